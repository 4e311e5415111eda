"""A service for a team: queue and workers, pages and API, watched training runs, clusters, trackers."""
