"""A run folder or a score file, opened as one side of a comparison."""
