"""Other tools: their logs and task definitions read, runs written for them."""
