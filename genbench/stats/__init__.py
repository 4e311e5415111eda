"""Statistics as pure functions of arrays and a seed."""
