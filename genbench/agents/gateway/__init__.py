"""Rollouts of agent harnesses: an OpenAI-compatible gateway on the engine of a run, and their processes."""
