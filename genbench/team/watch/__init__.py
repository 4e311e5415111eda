"""A watcher of training runs: complete checkpoints are kept and put into the queue."""
