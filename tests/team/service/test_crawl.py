"""A crawler over every page of a service: what each links is there, has the navigation, and is quick."""

from __future__ import annotations

import re
import shutil
import uuid
from collections import Counter, deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import urljoin, urlsplit

import pytest
from sqlalchemy import update
from starlette.testclient import TestClient

from genbench.nights.ledger.database import open_ledger
from genbench.nights.ledger.ingest import add
from genbench.nights.trend.detect import detect_changes
from genbench.pipeline import RunOptions, run
from genbench.team.queue import tables
from genbench.team.queue.database import open_queue
from genbench.team.queue.jobs import list_jobs, submit
from genbench.team.queue.spec import JobSpec, PlacedSpec
from genbench.team.service import demo
from genbench.team.service.app import make_app
from genbench.team.service.context import Service
from tests.nights.ledger.synthetic import flat, make_run, rewrite
from tests.ready_runs import RIGHT, WRONG, rows, write_lines

pytestmark = pytest.mark.slow
NIGHTS = 240
SUITE = """\
models:
  base: {path: ./base}
  tuned: {path: ./tuned}
decoding: {temperature: 0.6, max_tokens: 16}
tasks:
  - name: sums
    kind: math
    data: {path: rows.jsonl, fields: {id: id, question: problem, reference: answer}}
    prompt: "{question}"
    k: 4
"""


READ = re.compile(r"""<(?:(?:a|iframe|img|nav|script)\b(?:[^>"']|"[^"]*"|'[^']*')*|/script)>""")
"""The tags of a page that are read: a whole page has a hundred others for each of these."""


class Links(HTMLParser):
    """The addresses that a page links and loads, and whether it has the navigation."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.has_navigation = False
        self.feed("".join(READ.findall(text)))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag == "a" and given.get("href"):
            self.links.append(str(given["href"]))
        if tag in ("script", "iframe", "img") and given.get("src"):
            self.loaded.append(str(given["src"]))
        self.has_navigation |= tag == "nav" and given.get("aria-label") == "Pages"


@dataclass
class Crawl:
    """The pages that were found from `/`, by path: their texts, links and clicks from there."""

    texts: dict[str, str] = field(default_factory=dict)
    links: dict[str, list[str]] = field(default_factory=dict)
    clicks: dict[str, int] = field(default_factory=dict)
    bad: list[str] = field(default_factory=list)
    bare: list[str] = field(default_factory=list)


MANY = re.compile(r"/samples\?|/compare\?|/runs/[^/]+/samples\?")
"""Pages for each pair of runs, problem of a run, or search. Some are followed from each kind of page."""
FOLLOWED = 6


def kind_of(path: str) -> str:
    """The path and query of a page without the names and numbers in it."""
    return re.sub(r"=[^&]*", "=", re.sub(r"/(runs|tracks|series|changes|jobs)/[^/?]+", r"/\1/…", path))


def crawl(client: TestClient) -> Crawl:
    """Follow every link from `/`."""
    found, waiting, followed = Crawl(clicks={"/": 0}), deque(["/"]), Counter[tuple[str, str]]()
    loaded = dict[str, int]()
    while waiting:
        path = waiting.popleft()
        answer = client.get(path, headers={"Accept": "text/html"})
        found.texts[path], found.links[path] = answer.text, []
        if answer.status_code > 399:
            found.bad.append(f"{path}: {answer.status_code}")
        if not answer.headers["content-type"].startswith("text/html"):
            continue
        page = Links(answer.text)
        if not page.has_navigation:
            found.bare.append(path)
        for src in page.loaded:
            address = urljoin(path, src)
            if address not in loaded:
                loaded[address] = client.get(address).status_code
            if loaded[address] > 399:
                found.bad.append(f"{path} loads {src}")
        for link in page.links:
            target = _own(urljoin(path, link))
            if target is None:
                continue
            found.links[path].append(target)
            if target not in found.clicks:
                if MANY.match(target):
                    kinds = kind_of(path), kind_of(target)
                    followed[kinds] += 1
                    if followed[kinds] > FOLLOWED:
                        continue
                found.clicks[target] = found.clicks[path] + 1
                waiting.append(target)
    return found


def _own(address: str) -> str | None:
    """The path and query of an address of the service, None for one elsewhere."""
    parts = urlsplit(address)
    return None if parts.netloc else parts._replace(fragment="").geturl() or "/"


def reaches(found: Crawl, start: str, pattern: str, clicks: int) -> list[str]:
    """The pages within some clicks of a page whose path fits a pattern."""
    near, edge = {start}, {start}
    for _ in range(clicks):
        edge = {link for path in edge for link in found.links.get(path, ())} - near
        near |= edge
    return sorted(path for path in near if re.fullmatch(pattern, path))


def check(client: TestClient, found: Crawl, service: Service) -> None:
    """No page is missing or without navigation, and alarms and jobs lead where they must."""
    assert found.bad == [] and found.bare == []
    alarms = [path for path in found.links["/"] if "/changes/" in path]
    assert alarms
    for alarm in alarms:
        deciding = reaches(found, alarm, r"/runs/[^/]+/samples\?.*", 2)
        assert deciding, alarm
        assert any('status s-wrong"' in client.get(path).text for path in deciding[:20]), alarm
    for job in list_jobs(service.queue, states=("finished",)):
        page = found.links[f"/jobs/{job.id}"]
        runs = [path for path in page if re.fullmatch(r"/runs/[0-9a-f-]+", path)]
        assert runs and all(f"{path}/report" in page for path in runs), job.id
        assert all("<iframe" in found.texts[f"{path}/report"] for path in runs)


def draw(place: Path, name: str, wrong: int, models: tuple[str, ...]) -> Path:
    """A run folder of real verdicts on ready responses: the first `wrong` of 30 problems are wrong."""
    place.mkdir(parents=True, exist_ok=True)
    (place / "suite.yaml").write_text(SUITE)
    write_lines(place / "rows.jsonl", rows(30))
    lines = [
        {"task": "sums", "problem_id": f"p{i:02}", "sample_index": j, "text": WRONG if i < wrong else RIGHT}
        for i in range(30)
        for j in range(4)
    ]
    responses = write_lines(place / f"{name}.jsonl", [{**line, "model": m} for m in models for line in lines])
    run(
        RunOptions(
            suite=str(place / "suite.yaml"),
            run_dir=place / name,
            models=models,
            responses=responses,
            quiet=True,
        )
    )
    return place / name


def copied(source: Path, target: Path, position: int) -> None:
    """Copy a run folder as another run: the night `position` of the track `answers`."""
    shutil.copytree(source, target)
    place = {"name": "answers", "kind": "night", "position": position, "role": "point"}
    rewrite(target, manifest=lambda record: record.update(uid=str(uuid.uuid4()), track=place))


@pytest.fixture(scope="module")
def own_service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """240 nights without samples, a track whose samples fall, and jobs of one and of two models."""
    place = tmp_path_factory.mktemp("crawled")
    for night in range(NIGHTS):
        scores = {"gpqa": flat(24, 2, 0.6, night)}
        make_run(place / "runs" / "nightly" / f"n{night}" / "m", scores, position=20_000 + night, model="m")
    good, bad = (draw(place / "drawn", name, wrong, ("tuned",)) for name, wrong in (("a", 3), ("b", 24)))
    for night in range(14):
        source = (good if night < 11 else bad) / "tuned"
        copied(source, place / "runs" / "answers" / f"n{night}" / "tuned", 20_300 + night)
    with open_ledger(place / "l.sqlite3") as ledger, open_queue(place / "l.sqlite3") as queue:
        for models in (("tuned",), ("base", "tuned")):
            spec = JobSpec(suite="suite.yaml", models=dict.fromkeys(models))
            placed = PlacedSpec(spec=spec, track="suite", label="2026-01-01", slots=1)
            job, _ = submit(queue, placed, place / "runs", by="ada")
            shutil.copytree(draw(place / "drawn", f"j{len(models)}", 5, models), job.run_dir)
            if len(models) == 2:
                assert not list(Path(job.run_dir).glob("*/report.html"))
        submit(queue, PlacedSpec(spec=JobSpec(suite="x"), track="later", label="x", slots=1), place, by="ada")
        with queue.write() as connection:
            over = tables.job.c.id < 3
            connection.execute(update(tables.job).where(over).values(state="finished"))
        add(ledger, [place / "runs"])
        for track in ("nightly", "answers"):
            detect_changes(ledger, track)
        yield Service(ledger=ledger, queue=queue, runs=place / "runs", most_per_second=1_000_000)


def test_every_page_of_an_own_ledger_is_there(own_service: Service) -> None:
    with TestClient(make_app(own_service), base_url="http://127.0.0.1") as client:
        found = crawl(client)
        check(client, found, own_service)
        uids = {item["uid"] for item in all_runs(client)}
        shown = {
            path.removeprefix("/runs/") for path in found.texts if re.fullmatch(r"/runs/[0-9a-f-]+", path)
        }
        assert len(uids) == NIGHTS + 14 + 3 and uids <= shown
        assert f"newest {NIGHTS} of {NIGHTS} runs" in found.texts[f"/tracks/nightly?points={NIGHTS}"]


def all_runs(client: TestClient) -> list[dict[str, str]]:
    """Every run that the API lists."""
    pages = [
        client.get("/api/v1/runs", params={"limit": 100, "after": 100 * page}).json() for page in range(3)
    ]
    assert pages[-1]["next"] is None
    return [item for page in pages for item in page["items"]]


def test_every_page_of_the_demo_is_there(tmp_path: Path) -> None:
    with open_ledger(tmp_path / "l.sqlite3") as ledger, open_queue(tmp_path / "l.sqlite3") as queue:
        demo.fill(ledger, queue, tmp_path, by="ada", say=lambda line: None)
        own = Service(ledger=ledger, queue=queue, runs=tmp_path / "runs", most_per_second=1_000_000)
        with TestClient(make_app(own), base_url="http://127.0.0.1") as client:
            check(client, crawl(client), own)
