"""The steps of one run folder, from a command's options to results.json."""
