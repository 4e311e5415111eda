"""Mathematical answers: whether two of them are equal."""
