"""The formats of other tools: export of runs to them, import of their samples as score files."""
