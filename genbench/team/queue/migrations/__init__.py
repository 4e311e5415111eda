"""The revisions of the queue's tables, one module each, in order."""
