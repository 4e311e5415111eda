from types import SimpleNamespace as Sample

__all__ = ["Sample"]
