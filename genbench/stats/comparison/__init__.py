"""Two runs compared: paired differences, their tests and causes, the gate, and power."""
