"""Series of checkpoints: changes along a track, their power, and the luck of the best."""
