"""The code that runs inside the cage. It imports the standard library and itself, nothing else."""
