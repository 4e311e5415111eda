"""What answers say about themselves in words: announcements, commitment and its withdrawal, bounds of values."""
