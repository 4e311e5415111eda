"""Logs of other tools: one module for each, named in `registry.LOG_FORMATS`."""
