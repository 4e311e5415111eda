"""Make a suite's model ready: files, prompts, traces, terms."""
