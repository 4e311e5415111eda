"""Suites: the keys that people write, how a suite file is read, and where shipped files are."""
