"""Execute a run: prepare its jobs, draw, verify, score, and write its folder."""
