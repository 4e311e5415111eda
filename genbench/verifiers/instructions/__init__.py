"""Verifiable instructions: the rules of IFEval, Multi-IF and IFBench, and what they read texts with."""
