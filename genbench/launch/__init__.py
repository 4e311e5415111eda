"""Runs on clusters: shards as a job array of a scheduler that is there, and a job that joins them."""
