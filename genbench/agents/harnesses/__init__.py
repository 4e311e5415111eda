"""Agent harnesses of others: what each needs to run one rollout, and what its ways to end mean."""
