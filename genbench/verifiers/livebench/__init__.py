"""LiveBench's rules: one for each of its tasks, as its authors' code decides and as one committed answer."""
