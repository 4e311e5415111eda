"""Function calls, and conversations in which functions are called."""
