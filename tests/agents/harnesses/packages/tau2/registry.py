"""See talk.py."""

from tau2.talk import Registry

registry = Registry()
