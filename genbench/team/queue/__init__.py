"""Jobs that wait for GPUs: the queue in a database, and the workers that run them."""
