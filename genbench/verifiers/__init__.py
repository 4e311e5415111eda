"""Verifiers of answers, and the pool of processes in which they run."""
