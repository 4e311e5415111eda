"""The scale of drifts for a model at hand: copies with a known harm, and the same weights computed otherwise.

    python benchmarks/drift.py scale RUN SUITE NAME=FOLDER WORK   # RUN is a run of the model NAME of SUITE
    python benchmarks/drift.py harm FOLDER COPY noise=0.05        # or bits=4

`scale` scores the stored replies of RUN under each step (`genbench drift --scale`), so that `genbench drift`
and `genbench compare --treatment` name the steps next to a drift. A step that is done is not scored again.
Noise is normal, relative to the spread of each matrix. Rounding has one step for each 32 weights of a row,
and keeps the type of the file. Embeddings stay.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file

NOISE = (0.01, 0.02, 0.05, 0.1)
OTHERWISE = {"float32": "models.{name}.dtype=float32", "other batches": "engine.max_num_seqs=3"}
"""Steps that change no weight: the keys of the suite that they set."""
BLOCK = 32


def noisy(matrix: torch.Tensor, share: float, draw: torch.Generator) -> torch.Tensor:
    wide = matrix.float()
    return wide + share * wide.std() * torch.randn(wide.shape, generator=draw)


def rounded(matrix: torch.Tensor, bits: int) -> torch.Tensor:
    wide, top = matrix.float(), 2 ** (bits - 1) - 1
    if wide.shape[1] % BLOCK:
        raise SystemExit(f"a matrix has {wide.shape[1]} columns, wanted a multiple of {BLOCK}")
    blocks = wide.reshape(len(wide), -1, BLOCK)
    step = blocks.abs().amax(-1, keepdim=True).clamp(min=1e-8) / top
    return (torch.round(blocks / step).clamp(-top, top) * step).reshape(wide.shape)


def harm(source: Path, target: Path, what: str) -> None:
    """Write a copy of a checkpoint whose matrices have noise, or are rounded."""
    kind, _, size = what.partition("=")
    if kind not in ("noise", "bits"):
        raise SystemExit(f"{what}: wanted noise=SHARE or bits=NUMBER")
    target.mkdir(parents=True)
    draw = torch.Generator().manual_seed(1)
    for path in sorted(source.iterdir()):
        if path.suffix != ".safetensors":
            if path.is_file():
                shutil.copy(path, target)
            continue
        weights = load_file(path)
        for name, matrix in weights.items():
            if matrix.ndim == 2 and "embed" not in name and "lm_head" not in name:
                harmed = noisy(matrix, float(size), draw) if kind == "noise" else rounded(matrix, int(size))
                weights[name] = harmed.to(matrix.dtype)
        save_file(weights, target / path.name, metadata={"format": "pt"})


def scale(run: Path, suite: str, model: str, work: Path) -> None:
    """Score the replies of a run under each step of the scale."""
    name, _, folder = model.partition("=")
    command = [sys.executable, "-m", "genbench", "drift", str(run), suite]
    for label, key in OTHERWISE.items():
        subprocess.run(
            [*command, "--model", model, "--set", key.format(name=name), "--scale", label], check=True
        )
    for share in NOISE:
        copy = work / f"noise-{share:g}"
        if not (copy / "config.json").exists():
            harm(Path(folder), copy, f"noise={share}")
        label = f"{100 * share:g} % noise"
        subprocess.run([*command, "--model", f"{name}={copy.resolve()}", "--scale", label], check=True)
        shutil.rmtree(copy)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parts = parser.add_subparsers(dest="part", required=True)
    steps = parts.add_parser("scale")
    steps.add_argument("run", type=Path)
    steps.add_argument("suite")
    steps.add_argument("model", metavar="NAME=FOLDER")
    steps.add_argument("work", type=Path)
    one = parts.add_parser("harm")
    one.add_argument("source", type=Path)
    one.add_argument("target", type=Path)
    one.add_argument("what", metavar="noise=SHARE|bits=NUMBER")
    options = parser.parse_args()
    if options.part == "harm":
        harm(options.source, options.target, options.what)
    else:
        scale(options.run, options.suite, options.model, options.work)


if __name__ == "__main__":
    main()
