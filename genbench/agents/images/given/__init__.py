"""What harnesses get by PYTHONPATH and PATH: the client of their box."""
