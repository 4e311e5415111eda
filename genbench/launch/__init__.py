"""Runs on clusters: shards as jobs of a scheduler that is there, and the job that joins them."""
