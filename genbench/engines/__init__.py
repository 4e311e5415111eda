"""What turns requests into completions."""
