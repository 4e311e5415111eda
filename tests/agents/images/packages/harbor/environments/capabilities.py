from types import SimpleNamespace

EnvironmentCapabilities = SimpleNamespace
