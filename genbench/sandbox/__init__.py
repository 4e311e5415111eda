"""Runs programs that nobody has read, in a cage, and says what they printed; knows nothing of benchmarks."""
