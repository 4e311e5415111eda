"""Generative evaluation with vLLM whose differences can be trusted."""
