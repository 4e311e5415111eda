"""What answers say about themselves in words: announcements, commitments, withdrawals, bounds of values."""
