"""Agent harnesses: programs of others that let a model act."""
