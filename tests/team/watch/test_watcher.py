"""A watcher over several looks: what it keeps, what it puts into the queue, and what it leaves."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import update

from genbench.errors import InputError
from genbench.team.queue import tables
from genbench.team.queue.database import Queue
from genbench.team.queue.jobs import cancel_job, get_job, list_jobs, retry_job
from genbench.team.watch.readiness import needs_tokenizer
from genbench.team.watch.watcher import Watcher
from genbench.team.watch.watches import WatchRules, get_watch, list_watches, remove_watch
from tests.team.watch.conftest import write_checkpoint

Rules = Callable[..., WatchRules]


def watcher(queue: Queue, rules: WatchRules) -> Watcher:
    return Watcher(queue, "w", rules, by="ada", say=lambda line: None)


def polled(queue: Queue, rules: WatchRules, times: int = 3) -> dict[str, list[str]]:
    """Look some times with a new watcher. Return the states of each checkpoint, old to new."""
    one = watcher(queue, rules)
    for _ in range(times):
        one.poll()
    one.close()
    return states(queue)


def states(queue: Queue) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for item in sorted(get_watch(queue, "w").checkpoints, key=lambda item: item.id):
        found.setdefault(item.path, []).append(item.state)
    return found


def finish(queue: Queue, number: int, state: str = "finished", error: str = "") -> None:
    with queue.write() as connection:
        values: dict[str, Any] = {"state": state, "error": error}
        connection.execute(update(tables.job).where(tables.job.c.id == number).values(values))


def test_a_complete_checkpoint_gets_one_job_however_often_is_looked(
    queue: Queue, rules: Rules, tmp_path: Path
) -> None:
    write_checkpoint(tmp_path / "out" / "checkpoint-100")
    assert polled(queue, rules(), 5) == {"checkpoint-100": ["queued"]}
    assert polled(queue, rules(), 5) == {"checkpoint-100": ["queued"]}
    (job,) = list_jobs(queue)
    assert (job.track, job.label, job.requested_by) == ("sft", "step-100", "ada")
    finish(queue, job.id)
    assert polled(queue, rules()) == {"checkpoint-100": ["done"]}
    (item,) = get_watch(queue, "w").checkpoints
    assert item.pin == "" and not (tmp_path / "out/.genbench/w/checkpoint-100").exists()
    assert needs_tokenizer(rules())


def test_shards_that_are_written_one_by_one_are_not_drawn_early(
    queue: Queue, rules: Rules, tmp_path: Path
) -> None:
    one, place = watcher(queue, rules()), tmp_path / "out" / "checkpoint-100"
    for names in (("config.json",), ("tokenizer.json",), ("model.safetensors",)):
        write_checkpoint(place, names=names)
        one.poll()
        one.poll()
        assert bool(list_jobs(queue)) == (
            names == ("model.safetensors",) and states(queue) != {"checkpoint-100": ["settling"]}
        )
    one.poll()
    assert states(queue) == {"checkpoint-100": ["queued"]}


def test_a_folder_settles_for_its_time(queue: Queue, rules: Rules, tmp_path: Path) -> None:
    write_checkpoint(tmp_path / "out" / "checkpoint-100")
    assert polled(queue, rules(settle_s=3600.0)) == {"checkpoint-100": ["settling"]}
    assert "waits for 3600 s" in get_watch(queue, "w").checkpoints[0].reason


def test_half_a_file_and_what_vanishes_are_never_drawn(queue: Queue, rules: Rules, tmp_path: Path) -> None:
    for step in (100, 200):
        weights = write_checkpoint(tmp_path / "out" / f"checkpoint-{step}") / "model.safetensors"
        weights.write_bytes(weights.read_bytes()[:-1])
    assert set(polled(queue, rules())) == {"checkpoint-100", "checkpoint-200"}
    shutil.rmtree(tmp_path / "out" / "checkpoint-200")
    assert polled(queue, rules()) == {"checkpoint-100": ["settling"], "checkpoint-200": ["vanished"]}
    assert list_jobs(queue) == []


def test_what_is_rotated_away_is_drawn_from_its_pin(queue: Queue, rules: Rules, tmp_path: Path) -> None:
    place = write_checkpoint(tmp_path / "out" / "checkpoint-100")
    polled(queue, rules())
    shutil.rmtree(place)
    assert polled(queue, rules()) == {"checkpoint-100": ["queued"]}
    assert (Path(str(list_jobs(queue)[0].spec.checkpoint)) / "model.safetensors").is_file()


def test_a_checkpoint_that_is_written_again_is_a_new_point(
    queue: Queue, rules: Rules, tmp_path: Path
) -> None:
    place = write_checkpoint(tmp_path / "out" / "checkpoint-100")
    polled(queue, rules())
    shutil.rmtree(place)
    write_checkpoint(place, seed=1)
    assert polled(queue, rules()) == {"checkpoint-100": ["queued", "queued"]}
    names = {Path(str(job.spec.checkpoint)).name for job in list_jobs(queue)}
    assert names == {"checkpoint-100", "rewritten-1-checkpoint-100"}
    assert {job.label for job in list_jobs(queue)} == {"step-100"}


def test_the_same_weights_are_drawn_once(queue: Queue, rules: Rules, tmp_path: Path) -> None:
    write_checkpoint(tmp_path / "out" / "checkpoint-100")
    polled(queue, rules())
    (tmp_path / "out" / "checkpoint-100" / "eval_results.json").write_text("{}")
    write_checkpoint(tmp_path / "out" / "checkpoint-200")
    assert polled(queue, rules(), 4) == {"checkpoint-100": ["queued"], "checkpoint-200": ["same"]}
    assert len(list_jobs(queue)) == 1


def test_a_failed_job_is_not_done_and_can_be_tried_again(queue: Queue, rules: Rules, tmp_path: Path) -> None:
    write_checkpoint(tmp_path / "out" / "checkpoint-100")
    polled(queue, rules())
    finish(queue, 1, "failed", "exit code 2")
    assert polled(queue, rules()) == {"checkpoint-100": ["failed"]}
    item = get_watch(queue, "w").checkpoints[0]
    assert "genbench queue retry 1" in item.reason and Path(item.pin).is_dir()
    retry_job(queue, 1, by="ada")
    assert polled(queue, rules()) == {"checkpoint-100": ["queued"]}
    finish(queue, 1, "finished", "the run is marked as failed, see genbench show")
    assert polled(queue, rules()) == {"checkpoint-100": ["failed"]}


def test_files_that_are_written_over_while_linked_are_not_trusted(
    queue: Queue, rules: Rules, tmp_path: Path
) -> None:
    place = write_checkpoint(tmp_path / "out" / "checkpoint-100")
    polled(queue, rules())
    pin = Path(get_watch(queue, "w").checkpoints[0].pin)
    if not (place / "config.json").samefile(pin / "config.json"):
        return  # this file system shares blocks, so that pins are independent
    write_checkpoint(place, seed=1)
    assert polled(queue, rules()) == {"checkpoint-100": ["replaced", "queued"]}
    assert [get_job(queue, n).state for n in (1, 2)] == ["cancelled", "queued"]


def test_newest_first_and_late_lower_steps_too(queue: Queue, rules: Rules, tmp_path: Path) -> None:
    for step in (100, 300):
        write_checkpoint(tmp_path / "out" / f"checkpoint-{step}", seed=step)
    polled(queue, rules(most_pending=1))
    assert [job.label for job in list_jobs(queue)] == ["step-300"]
    finish(queue, 1)
    write_checkpoint(tmp_path / "out" / "checkpoint-200", seed=200)
    polled(queue, rules(most_pending=1))
    assert [job.label for job in list_jobs(queue)] == ["step-100", "step-300"]
    finish(queue, 2)
    polled(queue, rules(most_pending=1))
    assert list_jobs(queue)[0].label == "step-200"


def test_the_last_step_is_drawn_in_any_case_and_ends_the_watch(
    queue: Queue, rules: Rules, tmp_path: Path
) -> None:
    for step in (50, 100, 130):
        write_checkpoint(tmp_path / "out" / f"checkpoint-{step}", seed=step)
    own = rules(every=100, until=130)
    assert polled(queue, own) == {
        "checkpoint-100": ["queued"],
        "checkpoint-130": ["queued"],
        "checkpoint-50": ["skipped"],
    }
    one = watcher(queue, own)
    assert [one.is_over] == [False]
    for number in (1, 2):
        finish(queue, number)
    one.poll()
    assert one.is_over
    one.close()


def test_one_process_watches_and_a_name_is_of_one_folder(queue: Queue, rules: Rules, tmp_path: Path) -> None:
    one = watcher(queue, rules())
    with pytest.raises(InputError, match="another process watches"):
        watcher(queue, rules())
    one.close()
    (tmp_path / "other").mkdir()
    with pytest.raises(InputError, match=r"watch 'w' is of .*out; take another name"):
        watcher(queue, rules(folder=str(tmp_path / "other")))
    with pytest.raises(InputError, match="no such folder"):
        watcher(queue, rules(folder=str(tmp_path / "nothing")))


def test_a_removed_watch_leaves_its_jobs(queue: Queue, rules: Rules, tmp_path: Path) -> None:
    write_checkpoint(tmp_path / "out" / "checkpoint-100")
    polled(queue, rules())
    cancel_job(queue, 1, by="ada")
    assert [Path(pin).name for pin in remove_watch(queue, "w")] == ["checkpoint-100"]
    assert list_watches(queue) == [] and len(list_jobs(queue)) == 1
    with pytest.raises(InputError, match="there is no watch 'w'"):
        get_watch(queue, "w")


@pytest.mark.slow
def test_a_suite_that_is_wrong_by_now_is_said_and_tried_again(
    queue: Queue, rules: Rules, tmp_path: Path
) -> None:
    write_checkpoint(tmp_path / "out" / "checkpoint-100")
    own = rules()
    text = (tmp_path / "suite.yaml").read_text()
    (tmp_path / "suite.yaml").write_text("tasks: 7")
    assert polled(queue, own) == {"checkpoint-100": ["ready"]}
    assert "no job: " in get_watch(queue, "w").checkpoints[0].reason
    (tmp_path / "suite.yaml").write_text(text)
    assert polled(queue, own) == {"checkpoint-100": ["queued"]}
    assert json.loads(get_watch(queue, "w").model_dump_json())["counts"] == {"queued": 1}
