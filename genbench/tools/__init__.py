"""Function calls: what models write, what functions are offered, and simulated functions that answer."""
