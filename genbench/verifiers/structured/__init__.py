"""Answers with a structure: JSON, tables and grids."""
