"""results.json of a run: its record, and how it is made from verdicts."""
