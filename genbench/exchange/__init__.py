"""Other tools' formats: a run written for them, their samples read as score files."""
