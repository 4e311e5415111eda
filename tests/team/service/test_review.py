"""Reviews in the service: who sees what, what is stored and how often, and what the labels say."""

from __future__ import annotations

import json
import re
import signal
import textwrap
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest
import websocket
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from starlette.routing import Route
from starlette.testclient import TestClient
from statsmodels.stats.inter_rater import cohens_kappa

from genbench.judges.calibration import read_calibration
from genbench.judges.spec import judge_path, read_judge
from genbench.nights.ledger.database import open_ledger
from genbench.review.draft import PlanOptions
from genbench.review.export import export_labels
from genbench.review.plan import plan_review
from genbench.review.reviews import REVIEWS, Kind, ReviewFolder
from genbench.review.summary import add_vote, review_summary
from genbench.suite.judge import JudgeConfig, JudgeServer
from genbench.team.queue.database import open_queue
from genbench.team.service.app import make_api, make_app
from genbench.team.service.context import Service
from genbench.team.service.tokens import add_token
from tests import warm
from tests.browser import without_scripts
from tests.known import known
from tests.ready_runs import RIGHT, WRONG, MakeRun, as_another_run, write_lines
from tests.team.service.serving import serving
from tests.team.service.test_browser import violations

HOME = "http://127.0.0.1:8321"
OWN = {"Origin": HOME, "Sec-Fetch-Site": "same-origin", "Accept": "text/html"}
N = 100
NAMES = ("olympus-base", "olympus-tuned")


@pytest.fixture
def pair(make_run: MakeRun) -> tuple[Path, Path]:
    """Base is right on every third problem, tuned on the others, and each text is another one."""

    def said(what: str, i: int, right: bool) -> list[str]:
        return [f"Case {i}, {what} words: {RIGHT if right else WRONG}"] * 4

    found = (
        make_run("b", lambda i: said("plain", i, i % 3 == 0), n=N),
        make_run("t", lambda i: said("longer", i, i % 3 != 0), n=N),
    )
    for path, name in zip(found, NAMES, strict=True):
        _rename(path, name)
    return found


def _rename(path: Path, name: str) -> None:
    as_another_run(path, lambda record: record["model"].update(name=name))


@pytest.fixture
def plan(pair: tuple[Path, Path], tmp_path: Path) -> ReviewFolder:
    """100 pairs that two people label each."""
    folder = tmp_path / "runs" / "reviews" / "sums-pairs"
    plan_review(pair, "sums", PlanOptions(kind="prefer", n=N, seed=5, twice=1.0, returning=0), output=folder)
    return ReviewFolder.open(folder)


@pytest.fixture
def own(tmp_path: Path, plan: ReviewFolder) -> Iterator[Service]:
    with open_ledger(tmp_path / "l.sqlite3") as ledger, open_queue(tmp_path / "l.sqlite3") as queue:
        yield Service(ledger=ledger, queue=queue, runs=tmp_path / "runs", most_per_second=100_000)


@pytest.fixture
def opened(own: Service) -> Iterator[TestClient]:
    with TestClient(make_app(own), base_url=HOME) as client:
        yield client


def session(client: TestClient, own: Service, name: str, scope: str = "reviewer") -> dict[str, str]:
    """The headers of a browser whose user has shown a token."""
    token = add_token(own.queue, name, scope, 1)
    done = client.post("/forms/login", data={"token": token}, headers=OWN, follow_redirects=False)
    assert done.status_code == 303
    assert done.headers["location"] == ("/review" if scope == "reviewer" else "/")
    client.cookies.clear()
    return {**OWN, "Cookie": done.headers["set-cookie"].partition(";")[0]}


def at(client: TestClient, headers: dict[str, str], answer: Any) -> Any:
    """The page that an answer sends a browser to."""
    assert answer.status_code == 303
    return client.get(answer.headers["location"], headers=headers)


def fields(text: str) -> dict[str, str]:
    """The hidden fields of the form of an item."""
    form = known(re.search(r'<form id="vote".*?</form>', text, re.DOTALL)).group()
    return dict(re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', form))


def lines_of(plan: ReviewFolder) -> list[dict[str, Any]]:
    path = plan.path / REVIEWS
    return [json.loads(line) for line in path.read_text().splitlines()] if path.is_file() else []


def told(text: str, pair: tuple[Path, Path], plan: ReviewFolder) -> list[str]:
    """The words of a page or address that tell whose answer it is, or what the machine says of it."""
    secret = {*NAMES, *map(str, pair), str(plan.path), *(run.uid for run in plan.plan.runs)}
    secret |= {item.problem_id for item in plan.plan.items} | {item.text for item in plan.plan.items}
    words = {"correct", "status", "score", "wrong", "sample_index", "model", "truncated"}
    return [word for word in secret if word in text] + [word for word in words if word in text.lower()]


@pytest.mark.slow
def test_an_item_tells_nothing_before_its_vote_and_the_verdict_after(
    opened: TestClient, own: Service, plan: ReviewFolder, pair: tuple[Path, Path]
) -> None:
    headers = session(opened, own, "kim")
    assert "Label sums" in opened.get("/review", headers=headers).text
    assert "100 of 100 items wait for you" in opened.get(f"/review/{plan.plan.plan}", headers=headers).text
    for item in plan.plan.items:
        page = opened.get(f"/review/{plan.plan.plan}/items/{item.item}", headers=headers)
        assert told(page.text + str(page.url), pair, plan) == []
        assert page.text.count("words: ") == 2
    sent = {**fields(page.text), "label": "B better", "seconds": "4.5", "comment": "shorter"}
    done = opened.post(
        f"/forms/review/{plan.plan.plan}/vote", data=sent, headers=headers, follow_redirects=False
    )
    assert done.status_code == 303 and "/items/" in done.headers["location"]
    assert told(done.headers["location"], pair, plan) == []
    assert told(opened.get(done.headers["location"], headers=headers).text, pair, plan) == []
    seen = opened.get(f"/review/{plan.plan.plan}/items/{item.item}", headers=headers).text
    said = known(re.search(r'id="said">(.*?)</p>', seen)).group(1)
    assert said.startswith("You said: B better. The machine says: A ") and "correct (100" in said
    (line,) = lines_of(plan)
    assert (line["label"], line["seconds"], line["comment"], line["reviewer"]) == (
        "B better",
        4.5,
        "shorter",
        "kim",
    )


@pytest.mark.slow
def test_which_answer_is_a_is_a_coin_of_seed_and_item(
    plan: ReviewFolder, pair: tuple[Path, Path], tmp_path: Path
) -> None:
    lefts = {item.item: item.run for item in plan.plan.items}
    assert 35 < sum(lefts.values()) < 65
    plan_review(pair, "sums", PlanOptions(kind="prefer", n=N, seed=5, twice=1.0), output=tmp_path / "again")
    assert {item.item: item.run for item in ReviewFolder.open(tmp_path / "again").plan.items} == lefts
    plan_review(pair, "sums", PlanOptions(kind="prefer", n=N, seed=6), output=tmp_path / "other")
    other = ReviewFolder.open(tmp_path / "other").plan.items
    problems = {item.problem_id: item.run for item in plan.plan.items}
    assert 25 < sum(problems[item.problem_id] != item.run for item in other) < 75
    assert 8 < sum(item.raters == 2 for item in other) < 35  # a fifth goes to two people


@pytest.mark.slow
def test_a_reviewers_token_opens_no_other_route(opened: TestClient, own: Service, plan: ReviewFolder) -> None:
    headers = session(opened, own, "kim")
    bearer = {"Authorization": f"Bearer {add_token(own.queue, 'lee', 'reviewer', 1)}"}
    item = plan.plan.items[0].item
    open_paths = {
        *("/api/v1/health", "/login", "/style.css", "/forms/login", "/forms/logout"),
        *("/review", "/review/{plan}", "/review/{plan}/next", "/review/{plan}/items/{item}"),
        *("/forms/review/{plan}/vote", "/forms/review/{plan}/undo"),
    }
    values = {"plan": plan.plan.plan, "item": item, "number": "1", "name": "service.js"}
    tried, wrong = 0, []
    for route in make_api(None).routes:
        assert isinstance(route, Route) or hasattr(route, "path")
        path = re.sub(r"{(\w+)(:\w+)?}", lambda found: values.get(found[1], "x"), route.path)
        for method in getattr(route, "methods", None) or ():
            if route.path in open_paths:
                continue
            for own_headers in (headers, bearer):
                code = opened.request(method, path, headers=own_headers, follow_redirects=False).status_code
                tried += 1
                # Without a token in the request itself, a session writes nothing but forms.
                refused = {403} if method in ("GET", "HEAD") or own_headers is bearer else {401, 403}
                wrong += [(method, path, code)] * (code not in refused)
    assert wrong == [] and tried > 100
    for path in ("/nothing", f"/review/{plan.plan.plan}/summary", "/review/../runs", "/runs"):
        assert opened.get(path, headers=bearer).status_code == 403, path
    assert opened.get(f"/review/{plan.plan.plan}", headers=headers).status_code == 200


def test_who_reads_sees_the_summary_and_labels_nothing(
    opened: TestClient, own: Service, plan: ReviewFolder
) -> None:
    headers = session(opened, own, "ada", "read")
    assert opened.get(f"/review/{plan.plan.plan}", headers=headers).status_code == 403
    add_vote(plan.path, plan.plan.items[0].item, "kim", "tie", "f1")
    page = opened.get(f"/review/{plan.plan.plan}/summary", headers=headers)
    assert page.status_code == 200 and NAMES[0] in page.text and ">kim<" in page.text
    posted = opened.post(f"/forms/review/{plan.plan.plan}/vote", data={"label": "tie"}, headers=headers)
    assert posted.status_code == 403


@pytest.mark.slow
def test_a_form_counts_once_and_is_refused_from_elsewhere(
    opened: TestClient, own: Service, plan: ReviewFolder
) -> None:
    headers = session(opened, own, "kim")
    item = plan.plan.items[0].item
    target = f"/forms/review/{plan.plan.plan}/vote"
    sent = {
        **fields(opened.get(f"/review/{plan.plan.plan}/items/{item}", headers=headers).text),
        "label": "tie",
    }
    with ThreadPoolExecutor(8) as pool:
        codes = list(
            pool.map(
                lambda _: opened.post(target, data=sent, headers=headers, follow_redirects=False).status_code,
                range(24),
            )
        )
    assert codes == [303] * 24 and len(lines_of(plan)) == 1
    undo = f"/forms/review/{plan.plan.plan}/undo"
    for _ in range(3):
        back = opened.post(undo, data={**sent, "form": "u1"}, headers=headers, follow_redirects=False)
        assert back.headers["location"].endswith(f"/items/{item}")
    # The first form again, as a browser sends it that goes back and reloads: it is not a second vote.
    opened.post(target, data=sent, headers=headers, follow_redirects=False)
    assert [line["label"] for line in lines_of(plan)] == ["tie", None]
    for wrong, code in (
        ({**sent, "form_token": "00"}, 403),
        ({**sent, "form": "f", "label": "maybe"}, 422),
        ({**sent, "form": "f", "item": "nope"}, 404),
    ):
        assert opened.post(target, data=wrong, headers=headers).status_code == code
    foreign = {**headers, "Origin": "https://evil.example"}
    assert opened.post(target, data=sent, headers=foreign).status_code == 403
    assert len(lines_of(plan)) == 2


@pytest.mark.slow
def test_an_answer_that_was_drawn_again_is_void_and_takes_no_vote(
    opened: TestClient, own: Service, plan: ReviewFolder, pair: tuple[Path, Path]
) -> None:
    headers = session(opened, own, "kim")
    item = plan.plan.items[0]
    address = f"/review/{plan.plan.plan}/items/{item.item}"
    sent = {**fields(opened.get(address, headers=headers).text), "label": "tie"}
    add_vote(plan.path, item.item, "lee", "tie", "f1")
    path = pair[item.run] / "sums" / "completions.jsonl"
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    changed = [
        {**line, "text": "drawn again"} if line["problem_id"] == item.problem_id else line for line in lines
    ]
    write_lines(path, changed)
    assert "was drawn again since the plan was made" in opened.get(address, headers=headers).text
    refused = opened.post(f"/forms/review/{plan.plan.plan}/vote", data=sent, headers=headers)
    assert refused.status_code == 422 and "drawn again" in refused.text
    found = known(review_summary(plan.path).preferences)
    assert (found.void, found.votes) == (1, 0)


@pytest.mark.slow
def test_items_come_back_once_and_look_as_they_did(
    opened: TestClient, own: Service, pair: tuple[Path, Path], plan: ReviewFolder, tmp_path: Path
) -> None:
    folder = tmp_path / "runs" / "reviews" / "returning"
    plan_review(
        pair, "sums", PlanOptions(kind="prefer", n=N, seed=5, twice=1.0, returning=0.05), output=folder
    )
    place = ReviewFolder.open(folder)
    headers = session(opened, own, "kim")
    for number, item in enumerate(place.plan.items):
        assert place.returning("kim") == []
        add_vote(folder, item.item, "kim", "tie", f"f{number}")
    back = ReviewFolder.open(folder).returning("kim")
    assert 1 <= len(back) <= 12 and ReviewFolder.open(folder).returning("lee") == []
    start = f"/review/{place.plan.plan}"
    assert f"{len(back)} of 100 items wait for you" in opened.get(start, headers=headers).text
    page = at(opened, headers, opened.get(f"{start}/next", headers=headers, follow_redirects=False))
    for number, name in enumerate(back):
        assert page.url.path == f"{start}/items/{name}" and told(page.text, pair, place) == []
        assert "You said" not in page.text and "aria-pressed" not in page.text
        sent = {**fields(page.text), "label": "A better" if number == 0 else "tie"}
        for _ in range(2):
            posted = opened.post(f"/forms{start}/vote", data=sent, headers=headers, follow_redirects=False)
        page = at(opened, headers, posted)
    assert "Nothing waits for you" in page.text
    place = ReviewFolder.open(folder)
    assert len(place.lines) == N + len(back) and place.labels_of(back[0]) == ["tie"]
    rater = known(review_summary(folder).people).raters["kim"]
    assert (rater.labels, rater.again, rater.changed) == (N, len(back), 0)
    assert rater.same == pytest.approx(1 - 1 / len(back))
    undo = {**sent, "form": "u", "item": back[-1]}
    gone = opened.post(f"/forms{start}/undo", data=undo, headers=headers, follow_redirects=False)
    assert gone.headers["location"].endswith("?again=1")
    assert ReviewFolder.open(folder).returning("kim") == [back[-1]]


@pytest.fixture
def rated(make_run: MakeRun, tmp_path: Path) -> Path:
    return make_run("r", lambda i: [f"Answer {i}: {RIGHT if i % 2 else WRONG}"] * 4, n=20)


@pytest.mark.parametrize(
    ("judge", "labels", "shown", "label", "exported"),
    [
        (
            "simpleqa",
            ["CORRECT", "INCORRECT", "NOT_ATTEMPTED"],
            "<dt>NOT_ATTEMPTED</dt><dd>it leaves out what was asked for",
            "NOT_ATTEMPTED",
            "NOT_ATTEMPTED",
        ),
        (
            "wildbench",
            [str(point) for point in range(1, 11)],
            "<dt>score</dt><dd>how well the reply serves the person</dd>",
            "10",
            {"score": 10},
        ),
        ("rubric", list("12345"), "one number for the whole answer", "4", "4"),
        ("checklist", ["all", "most", "half", "few", "none"], "What the judge is told", "half", "half"),
    ],
)
def test_people_see_the_rubric_of_the_judge_that_the_plan_names(  # noqa: PLR0917 - a row each
    opened: TestClient,
    own: Service,
    rated: Path,
    tmp_path: Path,
    judge: str,
    labels: list[str],
    shown: str,
    label: str,
    exported: object,
) -> None:
    folder = tmp_path / "runs" / "reviews" / "sums"
    plan_review([rated], "sums", PlanOptions(n=20, judge=judge, returning=0), output=folder)
    place = ReviewFolder.open(folder)
    assert list(place.plan.labels) == labels
    item = place.plan.items[0].item
    headers = session(opened, own, "kim")
    page = opened.get(f"/review/{place.plan.plan}/items/{item}", headers=headers)
    offline = (folder / "review.html").read_text()
    assert shown in page.text and shown in offline and "{answer}" not in page.text
    assert re.findall(r'name="label" value="(\w+)" data-key="(\d)"', page.text) == [
        (name, str(number % 10)) for number, name in enumerate(labels, start=1)
    ]
    sent = {**fields(page.text), "label": label}
    opened.post(f"/forms/review/{place.plan.plan}/vote", data=sent, headers=headers, follow_redirects=False)
    assert json.loads(export_labels(folder, "jsonl"))["label"] == exported


@pytest.mark.slow
@pytest.mark.parametrize(
    ("judge", "said"), [("free_form", "EQUAL"), ("wildbench", "7"), ("pairwise", "B much better")]
)
def test_a_judge_is_checked_by_exported_labels_as_they_are(
    pair: tuple[Path, Path], tmp_path: Path, judge: str, said: str
) -> None:
    kind: Kind = "prefer" if judge == "pairwise" else "rate"
    runs = pair if kind == "prefer" else pair[:1]
    plan_review(runs, "sums", PlanOptions(kind=kind, n=N, judge=judge), output=tmp_path / "r")
    for item in ReviewFolder.open(tmp_path / "r").plan.items:
        add_vote(tmp_path / "r", item.item, "kim", said, item.item)
    exported = tmp_path / "labels.jsonl"
    exported.write_bytes(export_labels(tmp_path / "r", "jsonl"))
    server = JudgeServer(base_url="http://127.0.0.1:1/v1", model="m")
    spec = read_judge(judge_path(judge, tmp_path), JudgeConfig(server=server, allow_unpinned=True))
    cases = read_calibration(replace(spec, file=spec.file.model_copy(update={"calibration": str(exported)})))
    assert len(cases) == N
    assert {case.words for case in cases} == {({"B much better": "LOSS"}.get(said, said),)}


SERVER = """
    import sys
    import uvicorn
    from pathlib import Path
    from genbench.nights.ledger.database import open_ledger
    from genbench.team.queue.database import open_queue
    from genbench.team.service.app import make_app, server_config
    from genbench.team.service.context import Service

    place, port = Path(sys.argv[1]), int(sys.argv[2])
    with open_ledger(place / "l.sqlite3") as ledger, open_queue(place / "l.sqlite3") as queue:
        own = Service(ledger=ledger, queue=queue, runs=place / "runs", most_per_second=100_000)
        uvicorn.Server(server_config(make_app(own), port=port)).run()
"""


def start(place: Path, port: int) -> warm.Popen:
    process = warm.Popen((str(place), str(port)), program=("-c", textwrap.dedent(SERVER)))
    until = time.monotonic() + 60
    while time.monotonic() < until:
        try:
            httpx.get(f"http://127.0.0.1:{port}/api/v1/health")
        except httpx.TransportError:
            time.sleep(0.05)
        else:
            return process
    process.kill()
    process.wait()
    raise AssertionError("the server does not start")


@pytest.mark.slow
def test_kills_and_double_posts_store_each_vote_once(
    tmp_path: Path, own: Service, plan: ReviewFolder
) -> None:
    import socket

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    home = f"http://127.0.0.1:{port}"
    token, acknowledged = add_token(own.queue, "kim", "reviewer", 1), set[str]()
    server = start(tmp_path, port)
    try:
        for kill_after in (7, 12, 3, None):
            with httpx.Client(base_url=home, headers={**OWN, "Origin": home}, timeout=30) as client:
                answer = client.post("/forms/login", data={"token": token})
                client.headers["Cookie"] = answer.headers["set-cookie"].partition(";")[0]
                before, done = Counter(line["item"] for line in lines_of(plan)), 0
                assert acknowledged <= set(before) and set(before.values()) <= {1}
                for item in plan.plan.items:
                    if before[item.item]:
                        continue
                    page = client.get(f"/review/{plan.plan.plan}/items/{item.item}").text
                    sent = {**fields(page), "label": "tie"}
                    done += 1
                    target = f"/forms/review/{plan.plan.plan}/vote"
                    if done == kill_after:
                        with ThreadPoolExecutor(2) as pool:
                            posted = pool.submit(client.post, target, data=sent)
                            time.sleep(0.002 * kill_after)
                            server.send_signal(signal.SIGKILL)
                            server.wait()
                            posted.exception()
                        break
                    assert [client.post(target, data=sent).status_code for _ in range(2)] == [303, 303]
                    acknowledged.add(item.item)
            if kill_after is not None:
                server = start(tmp_path, port)
    finally:
        server.kill()
        server.wait()
    lines = lines_of(plan)
    assert len(lines) == N and len({line["item"] for line in lines}) == N


WAIT = """
    const [before, done] = arguments;
    const look = () => {
        if (location.href === before) return;
        watch.disconnect();
        done([location.href, document.documentElement.outerHTML]);
    };
    const watch = new MutationObserver(look);
    watch.observe(document.documentElement, { childList: true, subtree: true });
    look();
"""


class Seat:
    """A person in a window of the browser that shares no cookie with others. Only keys are pressed."""

    def __init__(self, browser: Any, address: str, token: str) -> None:
        self.browser = browser
        before = set(browser.window_handles)
        self.context = _of_all_windows(browser, "Target.createBrowserContext")["browserContextId"]
        target = {"url": "about:blank", "browserContextId": self.context, "newWindow": True}
        _of_all_windows(browser, "Target.createTarget", **target)
        _until(lambda: set(browser.window_handles) > before)
        (self.window,) = set(browser.window_handles) - before
        self.page = ("", "")
        browser.switch_to.window(self.window)
        log_in(browser, address, token)

    def press(self, *keys: str) -> None:
        """Press keys in this window, and do not wait for what they do."""
        self.browser.switch_to.window(self.window)
        ActionChains(self.browser).send_keys(*keys).perform()

    def see(self) -> tuple[str, str]:
        """Wait until the page shows another item. Return its address and its source.

        A page that the browser loads as a whole ends the wait with an error.
        """
        self.browser.switch_to.window(self.window)
        address, source = self.browser.execute_async_script(WAIT, self.page[0])
        self.page = (address, source)
        return self.page

    def leave(self, home: str) -> None:
        self.browser.switch_to.window(home)
        _of_all_windows(self.browser, "Target.disposeBrowserContext", browserContextId=self.context)


def _of_all_windows(browser: Any, method: str, **parameters: object) -> dict[str, Any]:
    """Run a command of the DevTools protocol that Chromium takes on its own socket only."""
    address = browser.capabilities["goog:chromeOptions"]["debuggerAddress"]
    socket_url = httpx.get(f"http://{address}/json/version").json()["webSocketDebuggerUrl"]
    connection = websocket.create_connection(socket_url, suppress_origin=True)
    try:
        connection.send(json.dumps({"id": 1, "method": method, "params": parameters}))
        found: dict[str, Any] = json.loads(connection.recv())["result"]
        return found
    finally:
        connection.close()


@pytest.mark.slow
def test_two_people_rate_100_pairs_each_at_once_by_keyboard(
    browser: Any, own: Service, plan: ReviewFolder, pair: tuple[Path, Path]
) -> None:
    """kim and lee press a key each, and then both wait, so their votes are on the way together."""
    keys: dict[str, dict[str, int]] = {who: {} for who in ("kim", "lee")}
    for number, item in enumerate(plan.plan.items):
        keys["kim"][item.item] = 1 + number % 5
        keys["lee"][item.item] = 1 + (number if number % 4 else number + 1) % 5
    labels, seen, home = list(plan.plan.labels), list[str](), browser.current_window_handle
    with serving(make_app(own)) as address:
        seats = {who: Seat(browser, address, add_token(own.queue, who, "reviewer", 1)) for who in keys}
        try:
            for seat in seats.values():
                browser.switch_to.window(seat.window)
                browser.get(f"{address}/review/{plan.plan.plan}")
                seat.page = (browser.current_url, "")
                seat.press("n")
                seat.see()
            first = seats["kim"].page[0]
            seats["kim"].press("s")
            assert seats["kim"].see()[0] != first
            seats["kim"].press("c")
            seats["kim"].press("12 why", Keys.ESCAPE)
            rounds = 0
            while any("/items/" in seat.page[0] for seat in seats.values()):
                for who, seat in seats.items():
                    url, source = seat.page
                    seen += told(source + url, pair, plan)
                    seat.press(str(keys[who][url.rpartition("/")[2]]))
                for seat in seats.values():
                    seat.see()
                rounds += 1
            assert rounds == N and seen == []
            for seat in seats.values():
                assert "Nothing waits for you" in seat.page[1]
                browser.switch_to.window(seat.window)
                assert [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"] == []
        finally:
            for seat in seats.values():
                seat.leave(home)
    lines = lines_of(plan)
    said = {(line["reviewer"], line["item"]): line["label"] for line in lines}
    wanted = {
        (who, item): labels[key - 1] for who, own_keys in keys.items() for item, key in own_keys.items()
    }
    assert said == wanted and len(lines) == 200
    assert all(line["seconds"] >= 0 for line in lines)
    assert [line["comment"] for line in lines if "comment" in line] == ["12 why"]
    (both,) = known(review_summary(plan.path).people).pairs
    table = [
        [sum(said["kim", i] == a and said["lee", i] == b for i in keys["kim"]) for b in labels]
        for a in labels
    ]
    assert both.kappa == pytest.approx(cohens_kappa(table).kappa, abs=1e-12)
    assert known(both.ci)[0] < known(both.kappa) < known(both.ci)[1] and both.n == N


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_on_the_pages_of_reviews(  # noqa: PLR0917 - fixtures
    browser: Any, own: Service, plan: ReviewFolder, rated: Path, tmp_path: Path, scheme: str
) -> None:
    first, second = (item.item for item in plan.plan.items[:2])
    add_vote(plan.path, first, "lee", "tie", "l1", seconds=2.0)
    add_vote(plan.path, first, "mia", "A better", "m1", seconds=9.0)
    folder = tmp_path / "runs" / "reviews" / "sums"
    plan_review([rated], "sums", PlanOptions(n=20, judge="wildbench"), output=folder)
    single = ReviewFolder.open(folder).plan
    start = f"/review/{plan.plan.plan}"
    paths = {
        "plans": "/review",
        "queue": start,
        "pair": f"{start}/items/{second}",
        "adjudication": f"{start}/items/{first}",
        "rubric": f"/review/{single.plan}/items/{single.items[0].item}",
        "summary": f"{start}/summary",
    }
    feature = {"name": "prefers-color-scheme", "value": scheme}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})
    try:
        with serving(make_app(own)) as address:
            log_in(browser, address, add_token(own.queue, "ada", "admin", 1))
            found = {}
            for name, path in paths.items():
                browser.get(address + path)
                found[name] = violations(browser)
                if name == "adjudication":
                    assert "Your label is the final one" in browser.page_source
    finally:
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
        browser.delete_all_cookies()
    assert {name: lines for name, lines in found.items() if lines} == {}


@pytest.mark.slow
def test_a_vote_needs_no_javascript_and_no_mouse(browser: Any, own: Service, plan: ReviewFolder) -> None:
    item = plan.plan.items[0].item
    try:
        with without_scripts(browser), serving(make_app(own)) as address:
            log_in(browser, address, add_token(own.queue, "kim", "reviewer", 1))
            browser.get(f"{address}/review/{plan.plan.plan}/items/{item}")
            button = browser.find_element(By.CSS_SELECTOR, '[name="label"][value="tie"]')
            button.send_keys(Keys.ENTER)
            _until(lambda: "/items/" in browser.current_url and item not in browser.current_url)
    finally:
        browser.delete_all_cookies()
    assert [(line["item"], line["label"], line["reviewer"]) for line in lines_of(plan)] == [
        (item, "tie", "kim")
    ]


def log_in(browser: Any, address: str, token: str) -> None:
    """Show a token by keyboard, and wait for the first page."""
    browser.get(f"{address}/login")
    browser.find_element(By.ID, "token").send_keys(token, Keys.ENTER)
    _until(lambda: not browser.current_url.endswith("/login"))


def _until(is_so: Any) -> None:
    until = time.monotonic() + 60
    while not is_so():
        assert time.monotonic() < until
        time.sleep(0.002)
