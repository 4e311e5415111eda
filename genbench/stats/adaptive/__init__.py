"""Runs that stop early: spending of the error, planned looks, and their expected cost."""
