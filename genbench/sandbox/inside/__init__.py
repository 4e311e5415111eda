"""The code that runs inside the cage. It imports only the standard library and itself."""
