"""Runs on clusters: the shards of a run as jobs of the cluster's scheduler, and the job that joins them."""
