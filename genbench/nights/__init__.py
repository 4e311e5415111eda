"""Runs night after night: the index of runs, what a track shows, and the gate."""
