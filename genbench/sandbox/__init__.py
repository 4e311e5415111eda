"""A sandbox that runs untrusted programs in a cage and reports what they printed.

It has no code of benchmarks.
"""
