"""Tracks of runs and curves of training steps: as text, as charts, and as static pages."""
