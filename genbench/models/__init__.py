"""Models of a suite made ready: files, prompts, reasoning traces, terms."""
