"""Names of built-ins and plug-ins, and what a plug-in's mistakes become."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from genbench import registry
from genbench.errors import ConfigError, UnavailableError


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder on sys.path, as another site-packages; its modules are forgotten afterwards."""
    monkeypatch.syspath_prepend(str(tmp_path))
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        del sys.modules[name]


def declare(site: Path, package: str, *entries: str) -> None:
    """Install the metadata of a package with these entry points."""
    info = site / f"{package}-0.3.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 0.3\n")
    (info / "entry_points.txt").write_text("[genbench.plugins]\n" + "\n".join(entries) + "\n")
    registry._read_entry_points.cache_clear()


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    """Read entry points anew in each test, whatever another one has declared."""
    registry._read_entry_points.cache_clear()
    yield
    registry._read_entry_points.cache_clear()


CHECK = "class Check:\n    def __init__(self, *, strict=False):\n        self.strict = strict\n"


def test_a_built_in_is_found_by_its_name() -> None:
    found = registry.find("verifier", "exact")
    assert (found.package, found.is_built_in) == ("genbench", True)
    assert found.load().__name__ == "ExactVerifier"


@pytest.mark.parametrize("category", ["task", "verifier", "engine", "exporter", "judge_form", "metric"])
def test_every_built_in_can_be_loaded(category: registry.Category) -> None:
    for name in registry.BUILT_IN[category]:
        if name != "vllm":  # takes seconds, and the engine tests load it
            assert registry.load(category, name) is not None


def test_an_entry_point_is_found_with_its_package(site: Path) -> None:
    (site / "acme_checks.py").write_text(CHECK)
    declare(site, "acme", "verifier.polite = acme_checks:Check")
    found = registry.find("verifier", "polite")
    assert (found.package, found.version, found.target) == ("acme", "0.3", "acme_checks:Check")
    assert found.build({"strict": True}).strict is True
    assert "polite" in registry.names("verifier")


def test_nothing_of_a_package_is_imported_before_it_is_used(site: Path) -> None:
    (site / "acme_slow.py").write_text("raise RuntimeError('imported')")
    declare(site, "acme", "verifier.slow = acme_slow:Check")
    assert "slow" in registry.names("verifier")
    assert "acme_slow" not in sys.modules


def test_an_attribute_of_a_module_is_found_without_a_declaration(site: Path) -> None:
    (site / "loose.py").write_text(CHECK)
    found = registry.find("verifier", "loose:Check")
    assert (found.package, found.name) == ("", "loose:Check")
    assert found.load().__name__ == "Check"


def test_the_folder_of_a_suite_is_searched_after_everything_installed(tmp_path: Path) -> None:
    (tmp_path / "beside_the_suite.py").write_text(CHECK)
    (tmp_path / "json.py").write_text("raise RuntimeError('hides the standard library')")
    assert registry.find("verifier", "beside_the_suite:Check", tmp_path).load().__name__ == "Check"
    assert registry.find("verifier", "json:loads", tmp_path).load()("1") == 1
    assert str(tmp_path) not in sys.path
    del sys.modules["beside_the_suite"]


def test_an_unknown_name_is_refused_with_the_nearest() -> None:
    with pytest.raises(ConfigError, match=r"unknown verifier 'exakt'; did you mean 'exact'\?"):
        registry.find("verifier", "exakt")


def test_two_packages_with_one_name_are_both_named(site: Path) -> None:
    declare(site, "acme", "metric.first = acme:first")
    declare(site, "other", "metric.first = other:first")
    with pytest.raises(ConfigError) as caught:
        registry.find("metric", "first")
    assert "acme (acme:first) and other (other:first)" in str(caught.value)
    assert "uninstall one" in str(caught.value)


def test_a_package_cannot_replace_a_built_in(site: Path) -> None:
    declare(site, "acme", "verifier.exact = acme:Exact")
    with pytest.raises(ConfigError, match=r"declared by genbench .* and acme"):
        registry.find("verifier", "exact")
    assert any("'exact'" in mistake for mistake in registry.mistakes())


def test_an_entry_point_of_no_category_is_reported(site: Path) -> None:
    declare(site, "acme", "verifyer.polite = acme:Check")
    assert registry.mistakes() == [
        "package acme: entry point 'verifyer.polite' of genbench.plugins: wanted <category>.<name>"
        "; did you mean 'verifier'?"
    ]
    with pytest.raises(ConfigError, match="package acme: entry point 'verifyer"):
        registry.find("verifier", "polite")


@pytest.mark.parametrize("name", ["a:", ":b", "a b:c", "a:b:c", "a/b.py:c", "1a:b"])
def test_what_is_no_module_and_attribute_is_refused(name: str) -> None:
    with pytest.raises(ConfigError, match=r"wanted a name or 'package\.module:attribute'"):
        registry.find("verifier", name)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("import nowhere_to_be_found", r"ModuleNotFoundError: No module named 'nowhere.*broken\.py:1"),
        ("x = 1\ny = x / 0", r"ZeroDivisionError: division by zero \(.*broken\.py:2\)"),
        ("x = (", r"SyntaxError: .*broken\.py:1"),
        ("import sys\nsys.exit(3)", r"SystemExit: 3 \(.*broken\.py:2\)"),
        ("class Chek: pass", r"broken\.py has no 'Check'; did you mean 'Chek'\?"),
    ],
)
def test_a_module_that_cannot_be_imported_is_one_message_with_file_and_line(
    site: Path, source: str, message: str
) -> None:
    (site / "broken.py").write_text(source)
    with pytest.raises(ConfigError, match=message):
        registry.find("verifier", "broken:Check").load()


def test_a_missing_module_says_where_to_put_it(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        registry.find("verifier", "not_there:Check", tmp_path).load()
    assert "there is no module 'not_there'" in str(caught.value)
    assert f"put not_there.py into {tmp_path}" in str(caught.value)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"strikt": True}, r"unknown option 'strikt'; did you mean 'strict'\? \(.*opts\.py:1\)"),
        ({}, None),
        ({"strict": 1}, None),
    ],
)
def test_options_are_held_against_the_signature(
    site: Path, options: dict[str, object], message: str | None
) -> None:
    (site / "opts.py").write_text(CHECK)
    plug_in = registry.find("verifier", "opts:Check")
    if message is None:
        plug_in.build(options)
        return
    with pytest.raises(ConfigError, match=message):
        plug_in.build(options)


def test_an_option_that_is_required_is_asked_for(site: Path) -> None:
    (site / "needs.py").write_text("class Check:\n    def __init__(self, *, limit): ...\n")
    with pytest.raises(ConfigError, match="'limit'"):
        registry.find("verifier", "needs:Check").build({})


def test_a_class_that_raises_while_it_is_made_is_named_with_its_line(site: Path) -> None:
    (site / "raises.py").write_text(
        "class Check:\n    def __init__(self):\n        raise ValueError('no tables')\n"
    )
    with pytest.raises(ConfigError, match=r"making it failed: ValueError: no tables \(.*raises\.py:3\)"):
        registry.find("verifier", "raises:Check").build({})


def test_what_cannot_be_called_is_no_plug_in(site: Path) -> None:
    (site / "constant.py").write_text("Check = 5\n")
    with pytest.raises(ConfigError, match="constant:Check is int, wanted a class or a function"):
        registry.find("verifier", "constant:Check").build({})


def test_a_package_of_an_extra_is_asked_for_by_the_extra(site: Path) -> None:
    (site / "needs_extra.py").write_text(
        "raise ModuleNotFoundError(\"No module named 'nltk'\", name='nltk')\n"
    )
    with pytest.raises(UnavailableError, match=r"pip install .*\[verify\]"):
        registry.load_object("needs_extra:anything")


def test_all_plug_ins_are_listed_without_importing_them() -> None:
    listed = registry.plug_ins()
    assert {item.category for item in listed} >= {"task", "verifier", "metric", "engine", "exporter"}
    assert all(item.package and item.target for item in listed)


@pytest.mark.parametrize("name", registry.NOT_OFFERED)
def test_a_benchmark_that_is_not_here_is_refused_with_the_reason(name: str) -> None:
    with pytest.raises(ConfigError, match=f"^task '{name}' is not offered: .*\\w{{4,}}( \\w+){{4}}"):
        registry.load("task", name)
    assert name not in registry.names("task")


LOAD = """\
import sys
from genbench.registry import find
print(find("verifier", "edited:ANSWER", sys.argv[1], is_allowed=True).load())
"""


def test_a_second_edit_in_the_same_second_is_seen(tmp_path: Path) -> None:
    second = time.time() + 3600  # no machine is so slow that it is over
    said = []
    for answer in (1, 2):
        (tmp_path / "edited.py").write_text(f"ANSWER = {answer}\n")
        os.utime(tmp_path / "edited.py", (second, second))
        command = [sys.executable, "-c", LOAD, str(tmp_path)]
        said.append(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    assert said == ["1\n", "2\n"]
