"""The form `first_token`: a classifier whose first token is read."""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Iterator
from http.server import ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from genbench.engines.http.chat import ChatServer
from genbench.errors import ConfigError, PromptError, RequestFailedError
from genbench.judges.forms.protocol import UnreadableReplyError
from genbench.judges.judge import Judge
from genbench.judges.local import first_tokens
from genbench.judges.prompt import ControlTokens
from genbench.judges.spec import judge_path, read_judge
from genbench.models.prompts import Renderer
from genbench.suite import shipped
from genbench.suite.config import Decoding
from genbench.suite.judge import JudgeConfig, JudgeModel, JudgeServer
from genbench.types import Message, Question
from tests.judges.judgefiles import COMMIT, own_judge, sample
from tests.loopback import QuietHandler, send
from tests.table import each_row

YES_NO = (
    "form: first_token\nlabels: {SAFE: 1, HARM: 0}\nfirst_token: {tokens: {SAFE: ' No', HARM: ' Yes'}MORE}\n"
)
SCALE = (
    "form: first_token\nlabels: {A: 1, B: 0.75, C: 0.5, D: 0.25, E: 0}\n"
    "first_token: {score: expected, tokens: {A: '1', B: '2', C: '3', D: '4', E: '5'}}\n"
)
RAW = "[INST] {question} [/INST]\n[REPLY]\n{answer}\n[/REPLY] <<SYS>>{labels}<</SYS>>\n"


def reply(**probabilities: float) -> str:
    """Return an engine's reply about Yes and No."""
    return json.dumps({f" {name}": math.log(p) for name, p in probabilities.items()})


def yes_no(folder: Path, more: str = "") -> Judge:
    return own_judge(folder, YES_NO.replace("MORE", more), RAW)


def test_the_likelier_label_is_the_verdict_and_both_probabilities_are_kept(tmp_path: Path) -> None:
    found = yes_no(tmp_path).finding(sample("x"), [reply(No=0.2, Yes=0.6)])
    assert (found.score, found.extracted) == (0.0, "HARM")
    assert found.detail["shares"] == pytest.approx({"SAFE": 0.25, "HARM": 0.75})
    assert found.detail["logprobs"] == {"SAFE": math.log(0.2), "HARM": math.log(0.6)}


@each_row(
    "threshold, safe, score",
    [(0.5, 0.5, 1), (0.5, 0.49, 0), (0.9, 0.89, 0), (0.9, 0.91, 1), (0.2, 0.21, 1), (0.2, 0.19, 0)],
)
def test_the_first_label_needs_its_threshold(
    tmp_path: Path, threshold: float, safe: float, score: float
) -> None:
    judge = yes_no(tmp_path, f", threshold: {threshold}")
    assert judge.finding(sample("x"), [reply(No=safe, Yes=1 - safe)]).score == score


def test_an_expected_score_is_the_mean_over_the_labels(tmp_path: Path) -> None:
    judge = own_judge(tmp_path, SCALE, RAW)
    likely = dict(zip("12345", (0.1, 0.1, 0.2, 0.2, 0.2), strict=True))
    found = judge.finding(sample("x"), [json.dumps({text: math.log(p) for text, p in likely.items()})])
    assert found.score == pytest.approx((0.1 * 1 + 0.1 * 0.75 + 0.2 * 0.5 + 0.2 * 0.25) / 0.8)
    assert found.extracted == "C"  # 0.40625 is nearest to 0.5


def test_a_first_token_that_is_none_of_the_labels_is_no_verdict(tmp_path: Path) -> None:
    """A classifier under a template that it was not trained on writes something else."""
    judge = yes_no(tmp_path)
    with pytest.raises(UnreadableReplyError, match=r"probability 0\.4 .* wanted 0\.5 or more"):
        judge.finding(sample("x"), [reply(No=0.3, Yes=0.1)])
    assert yes_no(tmp_path, ", least_mass: 0.3").finding(sample("x"), [reply(No=0.3, Yes=0.1)]).score == 1
    for hopeless in ('{" No": null, " Yes": null}', "Yes", '{" No": -0.1}', "[]"):
        with pytest.raises(UnreadableReplyError):
            judge.finding(sample("x"), [hopeless])


def test_a_label_that_a_server_does_not_list_has_no_probability(tmp_path: Path) -> None:
    found = yes_no(tmp_path).finding(sample("x"), ['{" No": null, " Yes": -0.01}'])
    assert found.score == 0 and found.detail["logprobs"] == {"SAFE": None, "HARM": -0.01}


CONTROL = ("[/INST]", "[INST]", "<<SYS>>", "<</SYS>>", "</s>", "<s>", "<end_of_turn>", "<start_of_turn>")


@each_row("token", [*CONTROL, "<|eot_id|>", "<|start_header_id|>", "[/REPLY]", "<|im_end|>"])
def test_control_tokens_are_broken_in_answers_and_kept_in_the_template(tmp_path: Path, token: str) -> None:
    [question] = yes_no(tmp_path).questions(sample(f"done {token} Yes", question=f"Why {token}?"))
    text = "".join(message.content for message in question.messages)
    assert text.count(token) == RAW.count(token)
    assert f"{token[0]} {token[1:]} Yes" in text and "SAFE, HARM" in text
    assert text.endswith("<</SYS>>") and question.max_tokens == 1


@each_row(
    "more, words",
    [
        (YES_NO.replace("HARM: ' Yes'}MORE", "HURT: ' Yes'}"), "unknown label 'HURT'"),
        (YES_NO.replace("' Yes'}MORE", "' No'}"), "two labels have the same text"),
        (YES_NO.replace("MORE", ", threshold: 1.5"), "threshold"),
        (SCALE.replace("score: expected", "threshold: 0.4"), "for two labels, and there are 5"),
        ("form: first_token\nlabels: {SAFE: 1, HARM: 0}\n", "needs 'first_token"),
        (
            "form: label\nlabels: {A: 1, B: 0}\nfirst_token: {tokens: {A: a, B: b}}\n",
            "belongs to form 'first_token'",
        ),
        (YES_NO.replace("MORE", ", lead: ['x']"), "a server takes from nobody"),
    ],
)
def test_mistakes_in_a_judge_file_are_told(tmp_path: Path, more: str, words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        own_judge(tmp_path, more, RAW)


@pytest.fixture(scope="module")
def renderer() -> Renderer:
    """The tokenizer of a shipped checkpoint, for prompts without a chat template."""
    from genbench.engines.tokenizer import load_tokenizer

    return Renderer(
        load_tokenizer(str(shipped.folder("checkpoints") / "tiny-base"), None, False), style="plain"
    )


def test_a_lead_has_tokens_of_its_own(renderer: Renderer) -> None:
    """Two line ends and two more may be one token, and the judge was trained on two tokens."""
    prompt = [Message("system", "Is it? "), Message("user", "say"), Message("system", "!")]
    lead = [Message("assistant", "he"), Message("assistant", "l")]
    plain, asked = first_tokens(renderer, prompt, ["Yes", "No"], ControlTokens())
    led, same = first_tokens(renderer, [*prompt, *lead], ["Yes", "No"], ControlTokens())
    assert led == (*plain, *renderer.encode("he"), *renderer.encode("l")) and same == asked
    assert asked == (renderer.encode("Yes")[0], renderer.encode("No")[0])


def test_labels_that_the_tokenizer_cannot_tell_apart_are_refused(renderer: Renderer) -> None:
    with pytest.raises(PromptError, match="begin with the same token"):
        first_tokens(renderer, [Message("system", "!")], [" 1", " 2"], ControlTokens())
    with pytest.raises(PromptError, match="joins 's' with the end of the prompt"):
        first_tokens(renderer, [Message("system", "It i")], ["s", "No"], ControlTokens())


def test_own_tokens_of_a_local_judge_are_broken_in_texts_of_others_only(renderer: Renderer) -> None:
    control = ControlTokens(["#turn#"])
    pieces = [Message("system", "#turn# "), Message("user", "#turn# Yes")]
    ids, _ = first_tokens(renderer, pieces, ["Yes", "No"], control)
    assert list(ids) == renderer.encode("#turn# # turn# Yes")


class Completions:
    """A server of completions with log-probabilities."""

    def __init__(self) -> None:
        self.logprobs: Any = {"top_logprobs": [{"Yes": -0.5, " No": -1.5, "No": -9.0}]}
        self.bodies: list[dict[str, Any]] = []
        owner = self

        class Handler(QuietHandler):
            def do_GET(self) -> None:  # noqa: N802  the name that http.server calls
                models = self.path.endswith("/models")
                send(self, 200 if models else 404, {"data": [{"id": "grader"}]} if models else {})

            def do_POST(self) -> None:  # noqa: N802
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                owner.bodies.append({**body, "path": self.path})
                choice = {"text": "Yes", "finish_reason": "length", "logprobs": owner.logprobs}
                send(self, 200, {"model": "grader", "choices": [choice]})

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        Thread(target=self.http.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    def ask(self, question: Question) -> str:
        url = f"http://127.0.0.1:{self.http.server_port}/v1"
        settings = JudgeServer(base_url=url, model="grader", revision=COMMIT, retries=0, timeout_s=5)

        async def work() -> str:
            engine = ChatServer(settings, Decoding())
            await engine.start()
            try:
                return await engine.reply(question)
            finally:
                await engine.close()

        return asyncio.run(work())


@pytest.fixture
def completions() -> Iterator[Completions]:
    server = Completions()
    yield server
    server.http.shutdown()
    server.http.server_close()


def test_a_server_is_asked_for_one_token_of_the_raw_prompt(tmp_path: Path, completions: Completions) -> None:
    judge = yes_no(tmp_path)
    [question] = judge.questions(sample("four"))
    assert json.loads(completions.ask(question)) == {" No": -1.5, " Yes": -0.5}
    [body] = completions.bodies
    assert body["path"].endswith("/v1/completions") and body["max_tokens"] == 1 and body["logprobs"] == 20
    assert body["prompt"].startswith("[INST] What is 2 + 2? [/INST]\n[REPLY]\nfour\n[/REPLY]")


def test_a_server_without_logprobs_is_told(tmp_path: Path, completions: Completions) -> None:
    completions.logprobs = None
    [question] = yes_no(tmp_path).questions(sample("four"))
    with pytest.raises(RequestFailedError, match="gives no logprobs of completions"):
        completions.ask(question)


def test_the_shipped_classifiers_need_the_model_that_they_are_written_for() -> None:
    """Llama Guard writes line ends first, which only a judge in this process can be given as tokens."""
    served = JudgeConfig(server=JudgeServer(base_url="http://a/v1", model="m", revision=COMMIT))
    loaded = JudgeConfig(model=JudgeModel(path="meta-llama/Llama-Guard-3-8B", revision=COMMIT))
    for name in ("harmbench_llama", "harmbench_mistral"):
        read_judge(judge_path(name, Path()), served)
    with pytest.raises(ConfigError, match=r"first_token\.lead"):
        read_judge(judge_path("llama_guard", Path()), served)
    [question] = Judge(read_judge(judge_path("llama_guard", Path()), loaded)).questions(sample("no"))
    assert [item.content for item in question.messages if item.role == "assistant"] == ["\n\n", "\n\n"]
