"""Benchmarks, one file per family."""
