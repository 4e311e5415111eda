"""What somebody may do to the files of a finished run."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.ready_runs import RIGHT, WRONG, as_another_run, score_bare

Line = dict[str, Any]


def rewrite(run: Path, kind: str, change: Callable[[list[Line]], list[Line]]) -> None:
    path = run / "sums" / f"{kind}.jsonl"
    lines = change([json.loads(line) for line in path.read_text().splitlines()])
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))


def rewrite_json(path: Path, change: Callable[[Line], object]) -> None:
    record = json.loads(path.read_text())
    change(record)
    path.write_text(json.dumps(record))


def first_line(run: Path, kind: str, **change: Any) -> None:
    rewrite(run, kind, lambda lines: [{**lines[0], **change}, *lines[1:]])


def replace_texts(run: Path) -> None:
    rewrite(
        run,
        "completions",
        lambda lines: [{**line, "text": line["text"].replace(WRONG, RIGHT)} for line in lines],
    )


def replace_texts_and_results(run: Path) -> None:
    replace_texts(run)
    (run / "results.json").unlink()


def take_task_of(other: Path, *files: str) -> Callable[[Path], None]:
    def take(run: Path) -> None:
        shutil.copytree(other / "sums", run / "sums", dirs_exist_ok=True)
        for file in files:
            shutil.copyfile(other / file, run / file)

    return take


def mix(other: Path) -> Callable[[Path], None]:
    """Take every second completion of another run, with its verdict."""

    def take(run: Path) -> None:
        for kind in ("completions", "verdicts"):
            theirs = [
                json.loads(line) for line in (other / "sums" / f"{kind}.jsonl").read_text().splitlines()
            ]
            by_sample = {(line["problem_id"], line["sample_index"]): line for line in theirs}
            rewrite(
                run,
                kind,
                lambda lines, own=by_sample: [  # type: ignore[misc]
                    own[line["problem_id"], line["sample_index"]] if line["sample_index"] % 2 else line
                    for line in lines
                ],
            )

    return take


def manifest_key(*path: str, value: Any) -> Callable[[Path], None]:
    def change(record: Line) -> None:
        for key in path[:-1]:
            record = record[key]
        record[path[-1]] = value

    return lambda run: rewrite_json(run / "manifest.json", change)


Edit = tuple[Callable[[Path], object], str]
"""What is done to a run folder, and a pattern of what a command must say."""


def edits(other: Path) -> dict[str, Edit]:
    """Return the ways to edit a finished run of the task `sums`, by the names in docs/security.md.

    Args:
        other: another run of the task.
    """
    return {**_of_lines(other), **_of_problems(), **_of_manifest(), **_of_results(other), **_made_again()}


_RIGHT = {"status": "correct", "score": 1.0, "extracted": "2"}


def _of_lines(other: Path) -> dict[str, Edit]:
    completions, verdicts = "completions.jsonl", "verdicts.jsonl"

    def verdict(**change: Any) -> Edit:
        return lambda run: first_line(run, "verdicts", **change), verdicts

    def completion(**change: Any) -> Edit:
        return lambda run: first_line(run, "completions", **change), completions

    def lines(kind: str, change: Callable[[list[Line]], list[Line]]) -> Edit:
        return lambda run: rewrite(run, kind, change), f"{kind}.jsonl"

    return {
        "cut completions": lines("completions", lambda all_: all_[:9]),
        "a completion twice": lines("completions", lambda all_: [*all_, all_[0]]),
        "no completions": (lambda run: (run / "sums" / completions).unlink(), completions),
        "texts": (replace_texts, completions),
        "a trace that became the answer": completion(text="</think>" + RIGHT),
        "token counts": completion(completion_tokens=3),
        "the seed of a sample": completion(seed=12),
        "a finish reason": completion(finish_reason="length"),
        "the digest of a prompt, in a completion": completion(prompt_digest="0" * 16),
        "two runs mixed": (mix(other), completions),
        "a task of another run": (take_task_of(other), completions),
        "a trace that the prompt opened": completion(trace_opened=True),
        "a refusal of the server": completion(refused="a content filter"),
        "the end of a conversation": completion(final=True),
        "the seconds of a sample": completion(seconds=1e6),
        "a dropped verdict": (
            lambda run: rewrite(run, "verdicts", lambda all_: all_[1:]),
            "no verdict|verdicts",
        ),
        "no verdicts": (lambda run: (run / "sums" / verdicts).unlink(), "no verdict|verdicts"),
        "a score": (cheat, verdicts),
        "a status": verdict(status="truncated", score=0.0),
        "an extracted answer": verdict(extracted="7"),
        "the detail of a verdict": verdict(detail={"forgeable": False}),
        "a part of a score": verdict(parts={"style": 1.0}),
        "the status of a trace": verdict(trace_status="closed"),
        "how an answer was read": verdict(detail={"read_by": "guess"}),
        "a second verdict": lines("verdicts", lambda all_: [*all_, {**all_[1], **_RIGHT}]),
        "a verdict of another verifier": (
            lambda run: rewrite(run, "verdicts", lambda all_: [*all_, {**all_[0], "verifier": "0" * 64}]),
            "verdicts",
        ),
    }


def _of_problems() -> dict[str, Edit]:
    def problem(**change: Any) -> Edit:
        return lambda run: first_line(run, "problems", **change), "problems.jsonl"

    return {
        "a problem less": (lambda run: rewrite(run, "problems", lambda all_: all_[1:]), "problem"),
        "the digest of a reference": (
            lambda run: first_line(run, "problems", reference_digest="0" * 16),
            "problems.jsonl|reference",
        ),
        "the digest of a prompt, in a problem": problem(prompt_digest="0" * 16),
        "a stratum": problem(strata={"level": "easy"}),
        "a group": problem(group="one"),
        "a limit of tokens": problem(max_tokens=8),
        "problems in another order": (
            lambda run: rewrite(run, "problems", lambda all_: all_[::-1]),
            "problem",
        ),
        "a prompt as people read it": (lambda run: first_line(run, "asks", prompt="1+1?"), "asks.jsonl"),
        "a reference as people read it": (lambda run: first_line(run, "asks", reference="3"), "asks.jsonl"),
        "no prompts as people read them": (lambda run: (run / "sums/asks.jsonl").unlink(), "asks.jsonl"),
        "a reply of the judge": (replace_reply, "judgments.jsonl"),
    }


def _of_manifest() -> dict[str, Edit]:
    def key(*path: str, value: Any) -> Edit:
        return manifest_key(*path, value=value), "manifest.json"

    foreign = "seal.json|you have not allowed what this run folder asks for"

    return {
        "the temperature": key("tasks", "sums", "decoding", "temperature", value=0.1),
        "the run seed": key("run_seed", value=77),
        "the model": key("model_identity", value="sha256:2"),
        "the version of the verifier": key("tasks", "sums", "verifier", "version", value="0"),
        "the engine": key("terms", "engine", value={"name": "vllm"}),
        "a removed seal": (lambda run: (run / "seal.json").unlink(), foreign),
        "another seal": (lambda run: (run / "seal.json").write_text('{"seal": "0"}'), foreign),
    }


def _of_results(other: Path) -> dict[str, Edit]:
    def without(*keys: str) -> Callable[[Path], None]:
        return lambda run: rewrite_json(
            run / "results.json", lambda record: [record.pop(key, None) for key in keys]
        )

    return {
        "the value in the results": (
            lambda run: rewrite_json(
                run / "results.json", lambda record: record["tasks"]["sums"].update(value=0.99)
            ),
            "results.json",
        ),
        "the sums": (
            lambda run: rewrite_json(run / "sums.json", lambda record: record.update(format=1)),
            "sums.json",
        ),
        "no results": (
            lambda run: (run / "results.json").unlink(),
            "results.json|not finished|unfinished|unsealed",
        ),
        "no sums": (lambda run: (run / "sums.json").unlink(), "sums.json"),
        "results of another run": (take_task_of(other, "results.json", "sums.json"), "manifest.json"),
        "results without digests, as if they were older": (without("digest", "manifest"), "results.json"),
        "results without the seals of lines": (
            lambda run: as_another_run(run, results=lambda record: record["tasks"]["sums"].pop("seal")),
            "results.json",
        ),
        "the table of samples": (
            lambda run: (run / "samples.parquet").write_bytes((run / "samples.parquet").read_bytes() + b"0"),
            "samples.parquet",
        ),
    }


def _made_again() -> dict[str, Edit]:
    """Return edits after which the run was scored again, so that all digests fit."""

    def scored(edit: Edit, *before: Callable[[Path], object]) -> Edit:
        def change(run: Path) -> None:
            for step in (edit[0], *before):
                step(run)
            score_bare(run)

        return change, edit[1]

    texts: Edit = (replace_texts, "completions.jsonl")
    return {
        "texts, scored again": scored(texts),
        "texts, without results, scored again": scored(texts, lambda run: (run / "results.json").unlink()),
        "token counts, scored again": scored(
            (lambda run: first_line(run, "completions", completion_tokens=3), "completions.jsonl")
        ),
        "the run seed, scored again": scored((manifest_key("run_seed", value=77), "manifest.json")),
        "a trace that the prompt opened, scored again": scored(
            (lambda run: first_line(run, "completions", trace_opened=True), "completions.jsonl")
        ),
        "a stratum, scored again": scored(
            (lambda run: first_line(run, "problems", strata={"level": "easy"}), "problems.jsonl")
        ),
    }


def replace_reply(run: Path) -> None:
    """Change what a judge replied. Verdicts that are made anew are made from it."""
    replies = run / "sums" / "judgments.jsonl"
    replies.write_text('{"reply": "B"}\n')
    score_bare(run)
    replies.write_text('{"reply": "A"}\n')


def cheat(run: Path) -> None:
    """Turn all wrong verdicts into right ones."""
    rewrite(run, "verdicts", lambda all_: [{**line, **_RIGHT} for line in all_])
