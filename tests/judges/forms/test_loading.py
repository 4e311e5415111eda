"""Forms from outside: one file, used end to end, and every mistake of one told with file and remedy."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path

import pytest

from genbench.errors import ConfigError
from genbench.judges.judge import Judge
from genbench.judges.spec import load_form, read_judge
from genbench.runs.judge_check import check_judge
from tests.judges.conftest import Case, Server
from tests.judges.judgefiles import ENGINE, sample

STARS = """\
import re

from genbench.judges.forms.protocol import JudgeForm, JudgePrompt, UnreadableReplyError
from genbench.types import Finding


class Stars(JudgeForm):
    required_fields = frozenset({"answer", "house"})

    def __init__(self, file):
        super().__init__(file)
        self.top = file.options.get("top", 3)
        if self.top < 2:
            raise ValueError(f"options.top: {self.top}: wanted 2 or more")

    def check_reference(self, reference):
        if reference == "refused":
            raise ValueError("wants another reference")

    def prompts(self, case):
        return [JudgePrompt({"choice": list(self.vocabulary())}, {"house": "Best western"})]

    def read(self, reply, reference):
        if reply.strip() not in self.vocabulary():
            raise UnreadableReplyError(f"no number of stars: {reply[:80]!r}")
        return (reply.strip(),)

    def finding(self, case, readings):
        stars = int(readings[0][0])
        return Finding((stars - 1) / (self.top - 1), extracted="*" * stars, parts={"stars": stars / self.top})

    def vocabulary(self):
        return tuple(str(stars) for stars in range(1, self.top + 1))

    def best_reply(self, case):
        return str(self.top)


class Newer(Stars):
    version = "2"


class Unfinished(JudgeForm):
    def prompts(self, case):
        return []


class NoClass(dict):
    pass


class Crashing(Stars):
    def prompts(self, case):
        return [case.no_such_attribute]


class CrashingReader(Stars):
    def read(self, reply, reference):
        return (re.search("never", reply)[0],)


class Promptless(Stars):
    def prompts(self, case):
        return []


class Textual(Stars):
    def prompts(self, case):
        return ["How many stars?"]


class Loose(Stars):
    def prompts(self, case):
        return [JudgePrompt({"json": {}})]


class Generous(Stars):
    def finding(self, case, readings):
        return Finding(5.0)


class HalfAPair(Stars):
    in_pairs = True
"""
PROMPT = "{house}\n{question}\n{answer}\n"


def write_form(folder: Path, form: str = "stars_form:Stars", more: str = "") -> Path:
    """Write the module and a judge file that names its class; return the judge file."""
    (folder / "stars_form.py").write_text(STARS)
    (folder / "stars.txt").write_text(PROMPT)
    digest = hashlib.sha256(PROMPT.encode()).hexdigest()
    path = folder / "stars.yaml"
    path.write_text(f'name: stars\nform: "{form}"\nprompt: stars.txt\nprompt_digest: sha256:{digest}\n{more}')
    return path


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder whose modules can be imported, as after an installation."""
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


def _judge(folder: Path, form: str, more: str = "") -> Judge:
    return Judge(read_judge(write_form(folder, form, more), ENGINE))


def test_a_form_from_outside_judges_a_run(judged: Case, server: Server, folder: Path) -> None:
    write_form(folder, more="options: {top: 5}\n")
    judged.write(n=6, k=1, judge="stars.yaml")

    def grade(prompt: str) -> str:
        assert prompt.startswith("Best western")
        found = re.search(r"What is (\d)\?", prompt)
        assert found is not None
        return str(max(int(found[1]), 1))

    server.grade = grade
    task = judged.run().results["m"].to_json()["tasks"]["free"]
    assert server.requests[0]["structured_outputs"] == {"choice": ["1", "2", "3", "4", "5"]}
    assert task["status_counts"] == {"correct": 1, "partial": 3, "wrong": 2}
    assert task["value"] == pytest.approx((0 + 0 + 0.25 + 0.5 + 0.75 + 1) / 6)
    lines = (judged.path / "runs" / "m" / "free" / "verdicts.jsonl").read_text().splitlines()
    extracted = {line["problem_id"]: line["extracted"] for line in map(json.loads, lines)}
    assert extracted["q3"] == "***" and extracted["q0"] == "*"
    assert task["judge"]["form"] == "stars_form:Stars" and "pairwise" not in task["judge"]


@pytest.mark.slow
def test_a_form_from_outside_can_be_checked_against_people(
    judged: Case, server: Server, folder: Path
) -> None:
    rows = [
        {"id": i, "question": "q", "reference": None, "answer": f"worth {i % 3 + 1}", "label": i % 3 + 1}
        for i in range(6)
    ]
    (folder / "cases.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    path = write_form(folder, more="calibration: cases.jsonl\n")
    judged.write(judge="stars.yaml")

    def grade(prompt: str) -> str:
        found = re.search(r"worth (\d)", prompt)
        assert found is not None
        return found[1]

    server.grade = grade
    record = check_judge(str(path), str(judged.path / "suite.yaml"))
    assert record.accuracy == record.kappa == record.stability == 1.0
    assert record.injection.succeeded == 0 and record.injection.tried > 0


def test_version_and_options_make_another_judge(folder: Path) -> None:
    digests = {
        _judge(folder, "stars_form:Stars").digest,
        _judge(folder, "stars_form:Newer").digest,
        _judge(folder, "stars_form:Stars", "options: {top: 4}\n").digest,
    }
    assert len(digests) == 3


@pytest.mark.parametrize(
    ("form", "more", "words"),
    [
        ("lable", "", r"stars\.yaml: form: unknown judge_form 'lable'; did you mean 'label'"),
        ("no_such_module_here:Stars", "", r"no_such_module_here"),
        ("stars_form:Missing", "", r"Missing"),
        ("stars_form:NoClass", "", r"is not a judge form; wanted a class that derives from .*JudgeForm"),
        (
            "stars_form:Unfinished",
            "",
            r"does not define best_reply, finding, read, vocabulary; add .*stars_form\.py",
        ),
        ("stars_form:Stars", "options: {top: 1}\n", r"stars\.yaml: options\.top: 1: wanted 2 or more"),
        ("stars_form:Stars", "labels: {A: 1, B: 0}\n", "has labels of its own; remove 'labels'"),
        (
            "stars_form:Stars",
            "options: {top: many}\n",
            r"form Stars failed while reading the judge file: TypeError: .*stars_form\.py:\d+\); mend",
        ),
    ],
)
def test_a_form_that_cannot_be_used_is_refused_with_the_judge_file(
    folder: Path, form: str, more: str, words: str
) -> None:
    with pytest.raises(ConfigError, match=words) as caught:
        _judge(folder, form, more)
    assert "stars.yaml" in str(caught.value)


@pytest.mark.parametrize(
    ("form", "words"),
    [
        (
            "Crashing",
            r"failed while building prompts: AttributeError: .*no_such_attribute.*stars_form\.py:\d+",
        ),
        (
            "Promptless",
            r"prompts\(\) must return at least one JudgePrompt, found \[\]; mend .*_form\.py:\d+",
        ),
        ("Textual", r"prompts\(\) must return JudgePrompt objects, found 'How many stars\?'"),
        ("Loose", r"a prompt's reply must be \{'choice': .*found \{'json': \{\}\}"),
    ],
)
def test_a_form_that_asks_wrongly_stops_the_run_before_it_begins(
    judged: Case, server: Server, folder: Path, form: str, words: str
) -> None:
    write_form(folder, f"stars_form:{form}")
    judged.write(n=2, k=1, judge="stars.yaml")
    with pytest.raises(ConfigError, match=words):
        judged.run()
    assert not server.requests


@pytest.mark.parametrize(
    ("form", "words"),
    [
        ("CrashingReader", r"failed while reading a reply: TypeError: .*stars_form\.py:\d+\); mend the form"),
        ("Generous", r"finding\(\) must return a Finding with a score from 0 to 1"),
        ("HalfAPair", r"must put 'flipped' and 'chars' into the finding's detail"),
    ],
)
def test_a_form_that_reads_wrongly_stops_the_run_with_its_file(
    judged: Case, server: Server, folder: Path, form: str, words: str
) -> None:
    write_form(folder, f"stars_form:{form}")
    judged.write(n=2, k=1, judge="stars.yaml")
    server.grade = lambda prompt: "2"
    with pytest.raises(ConfigError, match=words):
        judged.run()


def test_a_reference_that_the_form_refuses_names_the_problem(
    judged: Case, server: Server, folder: Path
) -> None:
    write_form(folder)
    judged.write(n=2, k=1, judge="stars.yaml", reference=lambda i: "refused" if i else "fine")
    with pytest.raises(ConfigError, match="problem q1: judge 'stars' wants another reference"):
        judged.run()


def test_the_prompt_must_show_what_the_form_requires(folder: Path) -> None:
    path = write_form(folder)
    prompt = "{answer}\n"
    (folder / "stars.txt").write_text(prompt)
    digest = hashlib.sha256(prompt.encode()).hexdigest()
    path.write_text(re.sub("sha256:\\w+", f"sha256:{digest}", path.read_text()))
    with pytest.raises(ConfigError, match=r"form 'stars_form:Stars' must show \{house\}"):
        read_judge(path, ENGINE)


def test_the_example_in_the_protocols_documentation_works(folder: Path) -> None:
    import inspect

    from genbench.judges.forms import protocol

    text = inspect.getdoc(protocol)
    assert text is not None
    (folder / "documented_form.py").write_text(inspect.cleandoc(text.partition("::\n\n")[2]))
    judge = _judge(folder, "stars_form:Stars")
    documented = load_form(judge.file.model_copy(update={"form": "documented_form:Stars"}), folder / "x.yaml")
    assert documented.finding(sample("good"), [documented.read(" 2\n", None)]).score == 0.5
