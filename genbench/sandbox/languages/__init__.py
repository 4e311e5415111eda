"""The languages that programs can be written in besides Python: one module each, and how they are run."""
