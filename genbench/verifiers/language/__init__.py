"""What answers say about themselves in words: announcements, negation, retraction, doubt and hedging."""
