"""One run folder, from a command's options to results.json."""
