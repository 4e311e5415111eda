"""What judges answers."""
