"""The package that reads and writes run folders."""
