"""Draw samples: keep the engines of a run busy."""
