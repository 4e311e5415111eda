"""Verifiable instructions: one small function per instruction id, and what they read a text with."""
