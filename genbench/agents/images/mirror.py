"""The images of a suite, fetched for machines without a network, and the proof that tasks can be judged."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from genbench.agents.images.given.genbench_box import BoxGoneError
from genbench.agents.images.layout import Image, Layout
from genbench.agents.images.plan import ImagePlan, Proof, has_solution, image_name, name_of, write_lock
from genbench.agents.images.registry import Registry
from genbench.agents.tasks import AgentTask
from genbench.data.local import RecentFile
from genbench.errors import ConfigError, DataError, GenbenchError
from genbench.suite.suitefile import Suite, read_suite
from genbench.tasks.factory import make_task
from genbench.tasks.loading import task_rows

_BUILT = (
    "its task has only a Dockerfile, and images are not built here: docker buildx build -o "
    "type=oci,tar=false,dest=LAYOUT makes one elsewhere"
)


@dataclass(frozen=True, slots=True)
class ImageTask:
    """A task with images, and its rows."""

    name: str
    task: AgentTask
    plan: ImagePlan
    rows: Sequence[Mapping[str, Any]]


def image_tasks(suite: Suite, data_dir: Path | None = None) -> Iterator[ImageTask]:
    """Yield the tasks of a suite that have images."""
    recent = RecentFile()
    for entry in suite.config.tasks:
        task = make_task(suite, entry)
        if isinstance(task, AgentTask) and task.plan.images is not None:
            rows, _ = task_rows(suite, entry, task, data_dir, recent)
            yield ImageTask(entry.name or task.info.name, task, task.plan.images, rows)


def pull_images(
    task: AgentTask,
    rows: Sequence[Mapping[str, Any]],
    to: Path,
    mirror: str | None,
    tell: Callable[[str], None],
    *,
    dry_run: bool,
) -> Iterator[tuple[str, str, str | None]]:
    """Fetch the images of a task's rows, and write its lock. A dry run only asks for their sizes.

    Yields:
        the name of an image, what was done, and the error if it could not be fetched.
    """
    plan = task.plan.images
    assert plan is not None
    lock = dict(plan.lock)
    registry, seen = Registry(Layout(to), mirror, keeps=not dry_run), set[str]()
    try:
        for name in _names(task, rows):
            wanted = f"{name.rpartition(':')[0]}@{lock[name]}" if name in lock else name
            tell(f"image {name}")
            try:
                if dry_run:
                    yield name, _sizes(registry.find(wanted), Layout(to), seen), None
                    continue
                found = registry.pull(wanted)
            except GenbenchError as error:
                yield name, "", str(error)
                continue
            size = sum(blob.size for blob in found.image.blobs)
            if "@" not in name:
                lock[name] = found.image.digest
                Layout(to).write_name(name, found.image.digest)
            done = f"{size / 1e6:,.1f} MB, {found.fetched_bytes / 1e6:,.1f} MB of it fetched"
            yield name, f"{found.image.digest[:19]}, {done}", None
    finally:
        registry.close()
        if not dry_run:
            write_lock(plan.lock_file, lock)


def _sizes(image: Image, layout: Layout, seen: set[str]) -> str:
    """Return how large an image is, and what is to be fetched of it. `seen` are the blobs of those before."""
    new = [blob for blob in layout.missing(image) if blob.digest not in seen]
    seen.update(blob.digest for blob in image.blobs)
    whole, left = (sum(blob.size for blob in blobs) for blobs in (image.blobs, new))
    return f"{image.digest[:19]}, {whole / 1e6:,.1f} MB, {left / 1e6:,.1f} MB of it to fetch"


def _names(task: AgentTask, rows: Sequence[Mapping[str, Any]]) -> list[str]:
    found: dict[str, None] = {}
    for row in rows:
        name = image_name(row, task.folder_of(row))
        if name is None:
            raise DataError(f"{name_of(row)}: it names no image; {_BUILT}")
        found[name] = None
    return list(found)


@dataclass(frozen=True, slots=True)
class Proven:
    """What was found of one row."""

    task: str
    problem: str
    seconds: float
    why: str | None


def prove(suite_file: Path, *, workers: int, again: bool, data_dir: Path | None = None) -> Iterator[Proven]:
    """Try the known solution of each row, and none. Yield what was found.

    Args:
        again: whether rows that were tried under the same terms are tried again.

    Raises:
        ConfigError: no task of the suite has a known solution.
    """
    tasks = list(image_tasks(read_suite(suite_file), data_dir))
    jobs = [(task, row) for task in tasks for row in task.rows if has_solution(row, task.task.folder_of(row))]
    if not jobs:
        raise ConfigError(
            f"{suite_file}: no task has options.images and problems whose known solution can be tried: rows "
            "of swebench 5, or folders of harbor's tasks"
        )

    def one(job: tuple[ImageTask, Mapping[str, Any]]) -> Proven:
        task, row = job
        try:
            known, folder = task.plan.as_problem(row), task.task.folder_of(row)
            earlier = None if again else task.plan.proof(known, folder, task.plan.digest_of(known, folder))
            found = earlier or task.plan.prove(known, folder)
        except (GenbenchError, BoxGoneError) as error:
            found = Proof(0.0, str(error))
        return Proven(task.name, name_of(row), found.seconds, found.why)

    try:
        with ThreadPoolExecutor(workers) as pool:
            yield from pool.map(one, jobs)
    finally:
        for task in tasks:
            task.plan.close()
