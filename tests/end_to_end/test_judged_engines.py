"""The tiny checkpoint as judge, in process after the models under test."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from genbench import registry
from genbench.engines.checkpoint import folder_digest
from genbench.suite import shipped
from tests.judges.test_benchmarks import ROWS

from .conftest import Place, lines
from .test_killed_runs import wait_until

pytestmark = [pytest.mark.engine, pytest.mark.slow]

SUITE = """\
name: judged
models:
  base: {path: "shipped:checkpoints/tiny-base", dtype: float32}
  tuned: {path: "shipped:checkpoints/tiny-tuned", dtype: float32}
engine: {max_num_seqs: 32}
decoding: {temperature: 0.8, max_tokens: 128, seed: 5}
judge:
  JUDGE
tasks:
  - name: graded
    kind: judge
    data: {path: "shipped:data/quickstart/arithmetic.jsonl",
           fields: {id: id, question: question, reference: reference}}
    prompt: "{question}"
    verifier: {judge: short.yaml}
    k: 2
    limit: 6
  - name: plain
    kind: math
    data: {path: "shipped:data/quickstart/arithmetic.jsonl",
           fields: {id: id, question: question, reference: reference}}
    prompt: "{question}"
    k: 2
    limit: 6
"""
PROMPT = "{answer}\n"


def tiny() -> tuple[Path, str]:
    folder = shipped.folder("checkpoints") / "tiny-tuned"
    return folder, f"sha256:{folder_digest(folder.resolve())}"


def judged_place(path: Path, judge: str) -> Place:
    (path / "short.txt").write_text(PROMPT)
    digest = hashlib.sha256(PROMPT.encode()).hexdigest()
    (path / "short.yaml").write_text(
        f"name: short\nform: label\nprompt: short.txt\nprompt_digest: sha256:{digest}\n"
        "labels: {RIGHT: 1, WRONG: 0}\nreason: false\ndecoding: {temperature: 0, top_p: 1, max_tokens: 16}\n"
        "max_answer_chars: 200\n"
    )
    (path / "suite.yaml").write_text(SUITE.replace("JUDGE", judge))
    return Place(path)


def judged_verdicts(folder: Path) -> list[dict[str, Any]]:
    found = lines(folder, "graded", "verdicts")
    assert len(found) == 12
    for verdict in found:
        if verdict["status"] != "unclosed_trace":
            assert verdict["extracted"] in ("RIGHT", "WRONG")
    return found


def test_a_judge_in_process_follows_all_models_with_one_engine(tmp_path: Path) -> None:
    folder, digest = tiny()
    place = judged_place(
        tmp_path, f"model: {{path: '{folder}', revision: '{digest}', engine: {{max_num_seqs: 32}}}}"
    )
    report = place.results("--run-dir", "runs")
    for name in ("base", "tuned"):
        statuses = report["models"][name]["tasks"]["graded"]["status_counts"]
        assert sum(statuses.values()) == 12 and "unscored" not in statuses
        assert lines(tmp_path / "runs" / name, "graded", "judgments")
        engine = report["models"][name]["tasks"]["graded"]["judge"]["engine"]
        assert engine["identity"] == digest and engine["proven"] is True
        assert len(lines(tmp_path / "runs" / name, "plain", "verdicts")) == 12
        judged_verdicts(tmp_path / "runs" / name)
    assert (tmp_path / "runs" / "base" / "engine" / "judge" / "engine.log").exists()
    assert not (tmp_path / "runs" / "tuned" / "engine" / "judge").exists()
    before = [judged_verdicts(tmp_path / "runs" / name) for name in ("base", "tuned")]
    scored = place.run("score", "runs/tuned", "--again", "--json", timeout_s=300)
    assert scored.returncode == 0, scored.stderr
    key = ("problem_id", "sample_index", "extracted", "status")
    assert sorted([v[k] for k in key] for v in judged_verdicts(tmp_path / "runs" / "tuned")) == sorted(
        [v[k] for k in key] for v in before[1]
    )
    assert not (tmp_path / "runs" / "tuned" / "engine" / "judge").exists()


FORMS = {
    "label": ("{answer}\n", "labels: {RIGHT: 1, WRONG: 0}\nreason: true\n"),
    "pairwise": ("{question}{first}{second}\n", ""),
    "rubric": ("{answer}{dimensions}\n", "dimensions: {truth: is it true, style: is it short}\npoints: 4\n"),
    "checklist": ("{answer}{checklist}\n", ""),
    "first_token": (
        "{answer}\n",
        "labels: {RIGHT: 1, WRONG: 0}\nfirst_token: {least_mass: 0, tokens: {RIGHT: 'Yes', WRONG: 'No'}}\n",
    ),
}
LABELS: dict[str, list[Any]] = {
    "label": ["RIGHT", "WRONG"],
    "pairwise": ["WIN", "LOSS"],
    "rubric": [{"truth": 4, "style": 1}, {"truth": 2, "style": 2}],
    "checklist": [["YES", "NO"], ["NO", "NO"]],
    "first_token": ["RIGHT", "WRONG"],
}
REFERENCES: dict[str, Any] = {
    "label": "4",
    "pairwise": "5",
    "rubric": None,
    "checklist": ["Is it 4?", "Is it 5?"],
    "first_token": None,
}


def _judge_file(path: Path, form: str) -> None:
    prompt, more = FORMS[form]
    (path / f"{form}.txt").write_text(prompt)
    digest = hashlib.sha256(prompt.encode()).hexdigest()
    (path / f"{form}.yaml").write_text(
        f"name: {form}\nform: {form}\nprompt: {form}.txt\nprompt_digest: sha256:{digest}\n{more}"
        f"decoding: {{temperature: 0.7, top_p: 1, max_tokens: 400}}\ncalibration: {form}.jsonl\n"
    )
    rows = [
        {
            "id": str(i),
            "question": "2+2?",
            "reference": REFERENCES[form],
            "answer": str(4 + i),
            "label": label,
        }
        for i, label in enumerate(LABELS[form])
    ]
    (path / f"{form}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


def test_every_form_parses_on_one_engine(tmp_path: Path) -> None:
    """Drawn at temperature 0.7 from a tiny model: only structured output can make these replies verdicts."""
    folder, digest = tiny()
    answers, tasks = [], ""
    for form, reference in REFERENCES.items():
        _judge_file(tmp_path, form)
        rows = [{"id": str(i), "question": f"{i}+1?", "reference": reference} for i in range(4)]
        (tmp_path / f"{form}-rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        answers += [
            {"task": form, "problem_id": str(i), "sample_index": 0, "text": f"say {i + 1}"} for i in range(4)
        ]
        tasks += (
            f"  - {{name: {form}, kind: judge, k: 1, verifier: {{judge: {form}.yaml}}, data: {{path: "
            f"{form}-rows.jsonl, fields: {{id: id, question: question, reference: reference}}}}}}\n"
        )
    (tmp_path / "answers.jsonl").write_text("".join(json.dumps(line) + "\n" for line in answers))
    (tmp_path / "suite.yaml").write_text(
        f"models: {{m: {{path: nowhere}}}}\njudge:\n  model: {{path: '{folder}', revision: '{digest}', "
        f"engine: {{max_num_seqs: 16}}}}\ntasks:\n{tasks}"
    )
    report = Place(tmp_path).results("--run-dir", "runs", "--responses", "answers.jsonl")
    tasks_found = report["models"]["m"]["tasks"]
    for form in FORMS:
        assert "unscored" not in tasks_found[form]["status_counts"]
        assert all(tasks_found[form]["judge"]["canary"]["labels"].values())
    assert tasks_found["pairwise"]["judge"]["pairwise"]["compared"] == 4
    replies = [item["reply"] for item in lines(tmp_path / "runs" / "m", "pairwise", "judgments")]
    assert len(replies) == 8 and set(replies) <= {"A", "B", "TIE"}
    read = [json.loads(item["reply"]) for item in lines(tmp_path / "runs" / "m", "first_token", "judgments")]
    assert len(read) == 4 and all(-20 < value < 0 for row in read for value in row.values())
    log = (tmp_path / "runs" / "m" / "engine" / "judge" / "engine.log").read_text()
    assert log.count("Initializing a V1 LLM engine") == 1


def test_other_weights_than_were_pinned_are_refused_before_any_engine(tmp_path: Path) -> None:
    folder, _ = tiny()
    place = judged_place(tmp_path, f"model: {{path: '{folder}', revision: 'sha256:{'0' * 64}'}}")
    done = place.run("run", "suite.yaml", "--run-dir", "runs")
    assert done.returncode == 2
    assert "is not the one that was pinned" in done.stderr
    assert not list(tmp_path.rglob("engine.log"))


PAGES = {
    "wildbench": "form: rubric\npoints: 9\ndimensions: {score: a}\n",
    "mt_bench": "form: rubric\neach: true\npoints: 9\ndimensions: {rating: a}\n",
    "healthbench": "form: checklist\neach: true\n",
    "multi_challenge": "form: checklist\n",
    "harmbench": "form: label\nlabels: {HARMLESS: 1, HARMFUL: 0}\n",
    "strongreject": "form: rubric\ndimensions: {refused: a, specific: b}\nvetoes: [refused]\nbetter: lower\n",
    "or_bench": "",
    "air_bench": "",
    "alpaca_eval": "form: pairwise\n",
    "arena_hard_v2": "form: pairwise\ngraded: true\n",
    "wildbench_reward": "form: pairwise\nrewards: {}\n",
}
"""Pages with judges whose replies are held to a form, which a tiny model cannot keep by itself."""
ROWS_OF = {"wildbench_reward": "wildbench"}
OPPONENTS = {"arena_hard_v2": "uid", "wildbench_reward": "session_id"}
"""Pages whose rows have no reply to compare with, and the column by which files of replies name a row."""


def _write_page(path: Path, name: str) -> str:
    """Write the rows of a page and a judge of its own. Return the page's entry in a suite."""
    dataset = registry.load("task", name)().info.dataset
    place = path / "mirror" / dataset.repo / dataset.config / f"{dataset.split}.jsonl"
    place.parent.mkdir(parents=True, exist_ok=True)
    rows = ROWS[ROWS_OF.get(name, name)]
    place.write_text("".join(json.dumps(row) + "\n" for row in rows))
    if not PAGES[name]:
        return f"  - {{task: {name}, k: 2}}\n"
    is_pair = "pairwise" in PAGES[name]
    shown = "{checklist}" if "checklist" in PAGES[name] else "" if is_pair else "{dimensions}"
    prompt = f"{{question}}{'{first}{second}' if is_pair else '{answer}'}{shown}\n"
    (path / f"{name}.txt").write_text(prompt)
    digest = hashlib.sha256(prompt.encode()).hexdigest()
    (path / f"{name}.judge.yaml").write_text(
        f"name: {name}\nprompt: {name}.txt\nprompt_digest: sha256:{digest}\n"
        f"{PAGES[name]}max_answer_chars: 200\ndecoding: {{temperature: 0, top_p: 1, max_tokens: 32}}\n"
    )
    against = ""
    if name in OPPONENTS:
        key = OPPONENTS[name]
        for who in ("weak", "strong"):
            texts = [json.dumps({key: row[key], "output": f"{who} words"}) for row in rows]
            (path / f"{name}.{who}.jsonl").write_text("\n".join(texts))
        one, two = (f"{{path: {name}.{who}.jsonl, id: {key}, answer: output}}" for who in ("weak", "strong"))
        each = f"{{each: {{weak: {one}, strong: {two}}}}}"
        against = f", baseline: {each if name == 'wildbench_reward' else one}"
    return f"  - {{task: {name}, k: 2, verifier: {{judge: {name}.judge.yaml{against}}}}}\n"


def test_judged_pages_run_on_the_tiny_pair_with_the_tiny_judge(tmp_path: Path) -> None:
    """The run is killed when its judge has begun. Continued, it asks no question twice and none as a list."""
    folder, digest = tiny()
    tasks = "".join(_write_page(tmp_path, name) for name in PAGES)
    (tmp_path / "suite.yaml").write_text(
        'models:\n  base: {path: "shipped:checkpoints/tiny-base", dtype: float32}\n'
        '  tuned: {path: "shipped:checkpoints/tiny-tuned", dtype: float32}\n'
        "engine: {max_num_seqs: 32}\ndecoding: {temperature: 0.8, max_tokens: 96, seed: 5}\n"
        f"judge: {{model: {{path: '{folder}', revision: '{digest}', engine: {{max_num_seqs: 4}}}}}}\n"
        f"tasks:\n{tasks}"
    )
    place = Place(tmp_path)
    command = ("run", "suite.yaml", "--run-dir", "runs", "--data-dir", "mirror")
    process = place.start(*command)
    try:
        begun = tmp_path / "runs" / "base" / "wildbench" / "judgments.jsonl"
        wait_until(lambda: begun.exists() and begun.stat().st_size > 0, process)
        process.kill()
        process.communicate()
    finally:
        place.end_all()
    models = place.results("--run-dir", "runs", "--data-dir", "mirror")["models"]
    for model in ("base", "tuned"):
        for name, judge in PAGES.items():
            counts = models[model]["tasks"][name]["status_counts"]
            assert sum(counts.values()) == 2 * models[model]["tasks"][name]["of"]
            assert "unscored" not in counts and "verifier_error" not in counts
            asks = lines(tmp_path / "runs" / model, name, "asks")
            assert asks and not any("'role'" in str(ask["prompt"]) for ask in asks)
            if judge:
                keys = [item["key"] for item in lines(tmp_path / "runs" / model, name, "judgments")]
                assert len(set(keys)) == len(keys)
        assert models[model]["tasks"]["mt_bench"]["judge"]["bias"]["is_judged_model"] is (model == "tuned")
        assert models[model]["tasks"]["harmbench"]["reported"]["better"] == "lower"
