"""Which part of a response is its final answer."""
