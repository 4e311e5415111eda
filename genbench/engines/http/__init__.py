"""Models behind OpenAI-compatible servers: under test, as a judge, or as a simulated user."""
