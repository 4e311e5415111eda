"""Logs of agent harnesses, as one log format of `genbench import log`."""
