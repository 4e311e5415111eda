"""The simulated services of BFCL's multi-turn conversations."""
