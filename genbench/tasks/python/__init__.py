"""Tasks written in Python: the benchmarks that pages name under `python:`, and tasks of a team's own
functions.
"""
