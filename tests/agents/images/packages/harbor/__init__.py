"""The parts of harbor that its adapter uses, and an agent that reads what the model wants typed."""
