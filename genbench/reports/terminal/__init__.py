"""Texts of commands for the terminal: one module for each command or group of commands."""
