"""Task definitions of other tools, made into genbench tasks."""
