"""A genbench plug-in: a verifier, a metric, an export format and a task about quantities with units."""
