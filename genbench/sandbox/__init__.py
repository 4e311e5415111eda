"""Runs untrusted programs; knows nothing of benchmarks."""
