"""Tables, estimates and comparisons, computed from verdicts."""
