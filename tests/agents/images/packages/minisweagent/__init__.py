"""The parts of mini-swe-agent that its adapter uses."""
