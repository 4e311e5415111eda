"""Report of what this machine offers and of what is missing."""

from __future__ import annotations

import asyncio
import json
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from genbench import registry
from genbench.engines.vllm import environment
from genbench.errors import GenbenchError, UnavailableError
from genbench.runs.execution.preflight import Check
from genbench.sandbox import isolation
from genbench.sandbox.languages.language import languages, toolchain
from genbench.sandbox.namespaces import check_namespaces
from genbench.sandbox.selftest import open_cage
from genbench.store.continuation import machine, package_versions


def doctor() -> Iterator[Check]:
    """Yield what this machine offers, and what is missing for which feature."""
    yield Check("ok", "python", f"{platform.python_version()} on {platform.platform()}")
    if sys.dont_write_bytecode:
        # sympy and nltk take 3 s to compile (2 cores, Python 3.11), in each process of verifiers.
        why = "PYTHONDONTWRITEBYTECODE is set: each process compiles its modules anew, which takes seconds"
        yield Check("warning", "byte code", f"{why}; unset it")
    found = machine()
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    yield Check("ok", "cpu", f"{found['cores']} cores, {memory:.0f} GiB of memory")
    yield from _engine(found["gpus"])
    yield Check(
        "ok", "packages", ", ".join(f"{name} {version}" for name, version in package_versions().items())
    )
    yield _sandbox()
    yield _isolation()
    yield from _toolchains()
    yield _namespaces()
    yield _boxes()
    token = os.environ.get("HF_TOKEN") or (Path.home() / ".cache/huggingface/token").is_file()
    yield Check(
        "ok" if token else "warning",
        "hub",
        "logged in" if token else "not logged in: gated datasets (GPQA) need `hf auth login` or a mirror",
    )
    mirror = os.environ.get("GENBENCH_DATA_DIR")
    yield Check("ok", "data mirror", mirror or "GENBENCH_DATA_DIR is not set: datasets come from the hub")
    free = shutil.disk_usage(Path.cwd()).free / 1e9
    yield Check("ok" if free > 5 else "warning", "disk", f"{free:,.1f} GB free here")


def _engine(gpus: Sequence[str]) -> Iterator[Check]:
    """Yield the GPUs and the installed vLLM. The CUDA build without a GPU is an error: nothing can draw."""
    try:
        name, version = environment.distribution()
    except GenbenchError as error:
        yield Check("ok", "gpu", "; ".join(gpus)) if gpus else Check("warning", "gpu", "no GPU answers")
        yield Check("warning", "engine", str(error))
        return
    if gpus:
        yield Check("ok", "gpu", "; ".join(gpus))
    else:
        ending = "" if environment.is_cuda_build() else ": vLLM runs on CPU, fit for tiny models and tests"
        yield Check("warning", "gpu", f"nvidia-smi does not answer{ending}")
    try:
        environment.check_device()
        yield Check("ok", "engine", f"{name} {version}")
    except UnavailableError as error:
        yield Check("error", "engine", str(error))


def _toolchains() -> Iterator[Check]:
    """Yield the toolchains for programs in other languages, and the packages of those that are absent."""
    found, missing = [], []
    for name in languages():
        try:
            found.append(f"{name}: {toolchain(name)}")
        except UnavailableError as error:
            missing.append(f"{name} (apt install {str(error).rpartition('apt install ')[2].rstrip(')')})")
    if found:
        yield Check("ok", "languages", ", ".join(found))
    if missing:
        yield Check("warning", "languages", f"not installed: {', '.join(missing)} (task multipl_e)")


def _namespaces() -> Check:
    """Make the namespaces that a harness of an agent task would get here."""
    try:
        asyncio.run(check_namespaces())
    except UnavailableError as error:
        return Check("warning", "agents", str(error))
    return Check("ok", "agents", "a harness gets a network with nothing but the gateway (agent tasks)")


def _boxes() -> Check:
    """Have a box of a container image, in the folder of the images."""
    words = [sys.executable, "-m", registry.AGENT_BOXES]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return Check("warning", "image boxes", f"none: {done.stderr.strip()[-300:]}")
    there, said = json.loads(done.stdout)
    return Check("ok" if there else "warning", "image boxes", said)


def _isolation() -> Check:
    """Tell which parts of the isolation this machine lacks."""
    found = list(isolation.lacking())
    if found:
        return Check("warning", "isolation", f"this machine lacks {'; '.join(found)} (see docs/security.md)")
    return Check("ok", "isolation", "this machine lacks nothing of what docs/security.md describes")


def _sandbox() -> Check:
    """Open the sandbox that code tasks would get here, with the attacks that it must resist."""
    try:
        cage, worker = open_cage()
    except UnavailableError as error:
        return Check("warning", "sandbox", f"code tasks cannot run here: {error}")
    worker.close()
    return Check("ok", "sandbox", f"{cage.label} resists the attacks that it was tried with (code tasks)")
