"""Generators of benchmark rows: long prompts that are made from a seed instead of read from a dataset."""
