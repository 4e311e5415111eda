"""Judge files made for one test, and samples to judge."""

from __future__ import annotations

import hashlib
from pathlib import Path

from genbench.judges.judge import Judge
from genbench.judges.spec import judge_path, read_judge
from genbench.suite.judge import JudgeConfig, JudgeServer
from genbench.types import Answer, Case, SampleId

COMMIT = "0123456789abcdef0123456789abcdef01234567"
ENGINE = JudgeConfig(server=JudgeServer(base_url="http://localhost:1/v1", model="grader", revision=COMMIT))
LABELS = "form: label\nlabels: {YES: 1, NO: 0}\n"


def sample(text: str, reference: object = "4", question: str = "What is 2 + 2?") -> Case:
    """Return a sample with one answer."""
    return Case(SampleId("t", "p", 0), (Answer(text, "absent", "", False),), reference, question)


def own_judge(folder: Path, more: str = LABELS, prompt: str = "{question} {reference} {answer}\n") -> Judge:
    """Write a judge file with its prompt to `folder`, and read it."""
    (folder / "p.txt").write_text(prompt)
    digest = hashlib.sha256(prompt.encode()).hexdigest()
    (folder / "own.yaml").write_text(f"name: own\nprompt: p.txt\nprompt_digest: sha256:{digest}\n{more}")
    return Judge(read_judge(folder / "own.yaml", ENGINE))


def shipped_judge(name: str) -> Judge:
    """Return a shipped judge, answered by a server that does not exist."""
    return Judge(read_judge(judge_path(name, Path()), ENGINE))


def served_by(
    url: str,
    more: str = LABELS,
    *,
    folder: Path,
    prompt: str = "{question} {reference} {answer}\n",
    api_key_env: str | None = None,
    model: str = "grader",
) -> Judge:
    """Write a judge file to `folder` and read it with the server at `url` as its engine."""
    own_judge(folder, more, prompt)
    server = JudgeServer(
        base_url=url, model=model, revision=COMMIT, retries=0, timeout_s=5, api_key_env=api_key_env
    )
    return Judge(read_judge(folder / "own.yaml", JudgeConfig(server=server)))
