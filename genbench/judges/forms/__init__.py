"""The forms in which a judge can be asked about a sample: one class each, with one protocol."""
