"""The commands queue, watch, serve and launch."""
