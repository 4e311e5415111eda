from __future__ import annotations

import importlib
import pkgutil

import pytest

import genbench


@pytest.mark.parametrize("name", genbench.__all__)
def test_every_public_name_is_there_whatever_was_imported_before(name: str) -> None:
    importlib.import_module("genbench.pipeline")
    assert callable(getattr(genbench, name))


def test_no_room_hides_a_public_name() -> None:
    rooms = {module.name for module in pkgutil.iter_modules(genbench.__path__)}
    assert not rooms & set(genbench.__all__)
