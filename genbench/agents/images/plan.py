"""What a suite says of images, and which of its tasks can be judged here."""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import tempfile
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from genbench.agents.harnesses.harness import digest_of_folder
from genbench.agents.harnesses.outcome import Outcome
from genbench.agents.images import cgroup, swe, terminal
from genbench.agents.images.box import HOME_PATH, BoxLimits
from genbench.agents.images.boxes import Rights, no_room, opened
from genbench.agents.images.given.genbench_box import Box, BoxGoneError
from genbench.agents.images.kit import Kit
from genbench.agents.images.layout import write_whole
from genbench.agents.images.store import Store, default_store
from genbench.errors import ConfigError, DataError, GenbenchError, RunFolderError, UnavailableError
from genbench.store.json_files import json_object, read_bytes

LOCK = "images.lock"
_PATCH_BYTES = 16 << 20
"""The largest result.json whose patch is tried."""
_GIVEN = Path(__file__).with_name("given")


class BoxOptions(BaseModel):
    """What the processes of one box may use together."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    memory_mb: int | None = Field(None, ge=16, description="memory of all processes together")
    cpus: int | None = Field(None, ge=1, description="processors that they run on")
    disk_mb: int | None = Field(
        None,
        ge=1,
        description="bytes that they write. They are kept in memory then, else on the store's disk",
    )
    pids: int | None = Field(512, ge=8, description="processes of one user of the box")


@dataclass(frozen=True, slots=True)
class Proof:
    """Whether a task can be judged here: its known solution is right, and no solution is not.

    `seconds` is what the tests of the solution took. `why` is None if the task can be judged.
    """

    seconds: float
    why: str | None


@dataclass(frozen=True, slots=True)
class ImagePlan:
    """The boxes of a task's rollouts.

    Args:
        lock: the digest of each image by its name with a tag.
        lock_file: where that is from.
        limits: what a box may use.
        grader: swebench, None if no row needs it.
        store: the images of this machine.
        kit: what the tests of harbor's tasks may fetch.
    """

    lock: Mapping[str, str]
    lock_file: Path
    limits: BoxLimits
    grader: swe.Grader | None = field(compare=False)
    store: Store = field(compare=False)
    kit: Kit = field(compare=False)

    @property
    def terms(self) -> dict[str, Any]:
        """Return what two runs must have in common. The digest of an image is part of its problem."""
        return {**self._of_boxes, "kit": self.kit.digest, "limited_by": _limited_by()}

    @property
    def _of_boxes(self) -> dict[str, Any]:
        version = None if self.grader is None else f"swebench {self.grader.version}"
        return {"ids": self.store.ids.kind, "rights": "docker", "network": "none", "verdicts": version}

    def close(self) -> None:
        """End the process of swebench, if there is one."""
        if self.grader is not None:
            self.grader.close()

    def digest_of(self, row: Mapping[str, Any], folder: Path | None = None) -> str:
        """Return the digest of a row's image.

        Raises:
            DataError: it names none, or one that is in no lock.
        """
        name = image_name(row, folder)
        if name is None:
            raise DataError(
                "it names no image: give it a column 'image', or its task.toml an [environment] docker_image"
            )
        if "@sha256:" in name:
            return name.rpartition("@")[2]
        if name not in self.lock:
            raise DataError(
                f"image {name} is not in {self.lock_file}: a tag may change unseen. Fetch it: genbench "
                f"mirror SUITE --to FOLDER, which writes {LOCK}"
            )
        return self.lock[name]

    def as_problem(self, row: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return a row with the columns of a problem."""
        return swe.as_problem(row) if swe.is_swe(row) else row

    def require(self, row: Mapping[str, Any], folder: Path | None, where: str) -> str:
        """Return the digest of the image of a row that can be judged here.

        Raises:
            DataError: its image is not here, or nothing has shown yet that it can be judged.
        """
        try:
            return self._required(row, folder)
        except DataError as error:
            raise DataError(f"{where}, {row['id']}: {error}") from None

    def _required(self, row: Mapping[str, Any], folder: Path | None) -> str:
        digest = self.digest_of(row, folder)
        self._require_image(digest)
        Rights.of(row)
        if swe.is_swe(row) and self.grader is None:
            raise ConfigError("its verdict needs options.grader, the virtual environment with swebench 5")
        if folder is not None and terminal.is_terminal(folder):
            terminal.read_task(folder)
        if has_solution(row, folder):
            proof = self.proof(row, folder, digest)
            if proof is None or proof.why is not None:
                why = "nothing has shown that it can be judged here" if proof is None else proof.why
                raise DataError(f"{why}; see genbench images prove SUITE")
        return digest

    def _require_image(self, digest: str) -> None:
        try:
            self.store.find(digest)
        except DataError as error:
            raise DataError(
                f"{error}; get it: genbench mirror SUITE --to DIR, and genbench images add DIR/images"
            ) from None

    def proof(self, row: Mapping[str, Any], folder: Path | None, digest: str) -> Proof | None:
        """Return what `prove` has found of a row, None if it was not tried under these terms."""
        try:
            found = json.loads(self._place(row, folder, digest).read_text(encoding="utf-8"))
            return Proof(float(found["seconds"]), found["why"])
        except (OSError, ValueError, LookupError, TypeError):
            return None

    def prove(self, row: Mapping[str, Any], folder: Path | None) -> Proof:
        """Try the known solution and none in fresh boxes, twice, and note what was found.

        The first try that does not score as it should is the last one.

        Raises:
            DataError: its image is not here, or its folder describes what no box can have.
            UnavailableError: no box can be made.
        """
        digest = self.digest_of(row, folder)
        self._require_image(digest)
        try_it = self._tried_patch if swe.is_swe(row) else self._tried_solution
        seconds, why = 0.0, None
        for again, solved in itertools.product((False, True), (True, False)):
            said, took = try_it(row, folder, digest, solved=solved)
            seconds = max(seconds, took * solved)
            why = _flaw(said, solved=solved)
            if why is not None:
                why = f"flaky, its second try differs: {why}" if again else why
                break
        found = {"task": name_of(row), "image": digest, "seconds": round(seconds, 1), "why": why}
        place = self._place(row, folder, digest)
        place.parent.mkdir(parents=True, exist_ok=True)
        write_whole(place, json.dumps(found).encode())
        return Proof(seconds, why)

    def _tried_patch(
        self, row: Mapping[str, Any], folder: Path | None, digest: str, *, solved: bool
    ) -> tuple[Outcome, float]:
        patch = row.get("patch") or "" if solved else ""
        evaluated, report = self._evaluated(row, patch, digest)
        return swe.outcome_of(patch, evaluated, report, proof_s=swe.EVALUATION_S), evaluated.seconds

    def _tried_solution(
        self, row: Mapping[str, Any], folder: Path | None, digest: str, *, solved: bool
    ) -> tuple[Outcome, float]:
        assert folder is not None
        task = terminal.read_task(folder)
        with self._fresh(digest, row) as box:
            terminal.prepare(box, task)
            said = terminal.solve(box, task) if solved else ""
            graded = terminal.evaluate(box, task, self.kit, self._path_of(digest))
        found = terminal.outcome_of(graded, limit_s=task.tests_s, proof_s=task.tests_s)
        return replace(found, detail={**found.detail, **({"solution": said} if said else {})}), graded.seconds

    def _evaluated(
        self, row: Mapping[str, Any], patch: str, digest: str
    ) -> tuple[swe.Evaluated, dict[str, Any]]:
        """Try a patch in a fresh box."""
        if self.grader is None:
            raise ConfigError("options.grader is missing: the virtual environment with swebench 5")
        script = self.grader.script(row)
        with self._fresh(digest, row) as box:
            evaluated = swe.evaluate(box, patch, script)
        return evaluated, self.grader.report(row, patch, evaluated.log) if evaluated.log is not None else {}

    @contextmanager
    def _fresh(self, digest: str, row: Mapping[str, Any]) -> Iterator[Box]:
        """Open a box whose socket is in a folder that no harness sees."""
        with (
            tempfile.TemporaryDirectory(prefix="genbench-") as name,
            opened(
                self.store, self.store.find(digest), Path(name), limits=self.limits, rights=Rights.of(row)
            ) as box,
        ):
            yield box

    def _path_of(self, digest: str) -> str:
        """Return the PATH of an image."""
        named = dict(text.partition("=")[::2] for text in self.store.find(digest).config.get("Env") or ())
        return named.get("PATH") or HOME_PATH

    def _place(self, row: Mapping[str, Any], folder: Path | None, digest: str) -> Path:
        terms = {**self._of_boxes, "limits": self.limits._asdict(), "image": digest, "tries": 2}
        if _limited_by() == "cgroup":  # proofs of before there were groups are those by rlimits
            terms["limited_by"] = "cgroup"
        terms |= Rights.of(row)._asdict()
        if swe.is_swe(row):
            terms["row"] = {name: row.get(name) for name in swe.PROVEN}
        elif folder is not None:
            terms |= {"kit": self.kit.digest, "fetch": self.kit.rules}
            terms["row"] = digest_of_folder(folder, "the task's folder")
        text = json.dumps(terms, sort_keys=True, default=str).encode("utf-8", "surrogatepass")
        return self.store.folder / "proofs" / f"{hashlib.sha256(text).hexdigest()[:32]}.json"

    def environment(self, folder: Path) -> dict[str, str]:
        """Return the variables by which a harness finds its box."""
        path = os.environ.get("PATH", "/usr/bin:/bin")
        return {
            "GENBENCH_BOX": str(folder / "box"),
            "PYTHONPATH": str(_GIVEN),
            "PATH": f"{_GIVEN}{os.pathsep}{path}",
        }

    @contextmanager
    def box(self, row: Mapping[str, Any], folder: Path, key: str) -> Iterator[Box]:
        """Open the box of one rollout, whose harness has a key.

        Raises:
            UnavailableError: there can be no box.
        """
        image = self.store.find(row["image_digest"])
        with opened(self.store, image, folder, limits=self.limits, key=key, rights=Rights.of(row)) as box:
            described = _folder_of(row)
            if described is not None and terminal.is_terminal(described):
                try:
                    terminal.prepare(box, terminal.read_task(described))
                except BoxGoneError as error:
                    raise UnavailableError(f"the box: {error}") from None
            yield box

    @staticmethod
    def hidden(row: Mapping[str, Any]) -> tuple[str, ...]:
        """Return the columns of a row that no harness is told."""
        return swe.HIDDEN if swe.is_swe(row) else ()

    def judged(self, found: Outcome, row: Mapping[str, Any], box: Box, folder: Path) -> Outcome:
        """Return the outcome of a rollout whose harness has ended.

        Args:
            found: what the harness says. Its result.json may have a `patch`.
            box: its own box. A patch is tried in another one; tests of harbor's form run in this one.

        Raises:
            RunFolderError: the disk of the store is full.
        """
        found = self._with_limits(found, box)
        if found.is_ours or found.status == "verifier_error":
            return found
        try:
            if swe.is_swe(row) and self.grader is not None:
                said = self._judged_patch(found, row, folder)
            elif terminal.is_terminal(_folder_of(row)):
                said = self._judged_tests(row, box)
            else:
                return found
        except RunFolderError:  # a full disk says nothing of a model
            raise
        except (BoxGoneError, UnavailableError) as error:
            return Outcome(None, "unavailable", {**found.detail, "why": f"the box of the verdict: {error}"})
        except GenbenchError as error:
            return Outcome(None, "verifier_error", {**found.detail, "why": str(error)})
        detail = {**found.detail, **said.detail}
        if found.status == "truncated" and said.score == 0:
            return Outcome(0.0, "truncated", detail)
        return Outcome(said.score, said.status, detail)

    def _judged_patch(self, found: Outcome, row: Mapping[str, Any], folder: Path) -> Outcome:
        patch = _patch_of(folder)
        if not patch.strip():
            return Outcome(0.0, "no_answer" if found.status in (None, "unscored") else found.status)
        digest = row["image_digest"]
        proof = self.proof(row, None, digest)
        evaluated, report = self._evaluated(row, patch, digest)
        proof_s = swe.EVALUATION_S if proof is None else proof.seconds
        return swe.outcome_of(patch, evaluated, report, proof_s=proof_s)

    def _judged_tests(self, row: Mapping[str, Any], box: Box) -> Outcome:
        described, digest = _folder_of(row), row["image_digest"]
        assert described is not None
        task, proof = terminal.read_task(described), self.proof(row, described, digest)
        try:
            graded = terminal.evaluate(box, task, self.kit, self._path_of(digest))
        except BoxGoneError as error:
            stats = box.stats()
            if stats["gone"] or stats["full"]:
                raise
            why = f"the tests cannot be run in the box as the agent left it: {error}"
            return Outcome(None, "verifier_error", {"ended_by": why})
        proof_s = task.tests_s if proof is None else proof.seconds
        return terminal.outcome_of(graded, limit_s=task.tests_s, proof_s=proof_s)

    def _with_limits(self, found: Outcome, box: Box) -> Outcome:
        """Add what the box has used. A box that ended by itself is a fault of ours."""
        try:
            stats = box.stats()
        except BoxGoneError as error:
            return Outcome(None, "unavailable", {**found.detail, "why": f"the box: {error}"})
        if stats["full"]:
            raise no_room(self.store)
        if stats["gone"]:
            return Outcome(None, "unavailable", {**found.detail, "why": "the box ended before its rollout"})
        hits = {"limits_hit": stats["limits_hit"]} if stats["limits_hit"] else {}
        return replace(found, detail={**found.detail, **hits, "box_mb": stats["peak_mb"]})


def _patch_of(folder: Path) -> str:
    """Return the patch of a harness. Its result.json may be anything."""
    try:
        found = json_object(read_bytes(folder / "result.json", _PATCH_BYTES) or b"{}", folder).get("patch")
    except (RunFolderError, RecursionError, MemoryError):
        return ""
    return found if isinstance(found, str) else ""


def _folder_of(row: Mapping[str, Any]) -> Path | None:
    """Return the folder that describes a problem."""
    return Path(row["path"]) if isinstance(row.get("path"), str) else None


def _limited_by() -> str:
    return "rlimits" if cgroup.delegated() is None else "cgroup"


def _flaw(said: Outcome, *, solved: bool) -> str | None:
    """Return what is wrong with a try of the known solution or of none, None if it scores as it should."""
    if said.score == int(solved):
        return None
    if solved:
        return f"its own solution is not resolved here ({said.status or 'wrong'}: {_reason(said)})"
    word = said.status or ("resolved" if said.score == 1 else f"worth {said.score:g}")
    return f"without a solution it is {word} ({said.detail.get('ended_by')})"


def _reason(found: Outcome) -> str:
    """Return why a solution was not resolved: what ended it, or else what it and the tests said last."""
    if found.detail.get("ended_by"):
        return str(found.detail["ended_by"])
    last = str(found.detail.get("tests_said") or "").rpartition("\n")[2][-200:]
    parts = [f"score {found.score:g}", found.detail.get("solution"), last and f"the tests end with: {last}"]
    return "; ".join(part for part in parts if part)


def has_solution(row: Mapping[str, Any], folder: Path | None) -> bool:
    """Return whether a row is of a form whose known solution can be tried: swebench's or harbor's."""
    return swe.is_swe(row) or terminal.is_terminal(folder)


def name_of(row: Mapping[str, Any]) -> str:
    """Return the name of a row."""
    return str(row.get("id", row.get("instance_id")))


def image_name(row: Mapping[str, Any], folder: Path | None = None) -> str | None:
    """Return the image that a row names, or the task.toml of harbor in its folder."""
    for column in ("image", "docker_image", "image_name"):
        if isinstance(row.get(column), str):
            return str(row[column])
    path = None if folder is None else folder / "task.toml"
    if path is None or not path.is_file():
        return None
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8")).get("environment", {}).get("docker_image")
    except (ValueError, OSError) as error:
        raise DataError(f"{path}: {error}") from None
    return found if isinstance(found, str) else None


def read_lock(path: Path) -> dict[str, str]:
    """Return the digest of each image that a lock names.

    Raises:
        ConfigError: it cannot be read.
    """
    if not path.exists():  # mirror writes it
        return {}
    try:
        found = json.loads(path.read_text(encoding="utf-8"))["images"]
        return {str(name): str(digest) for name, digest in found.items()}
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
        why = error if isinstance(error, OSError | ValueError) else "it does not have the right keys"
        raise ConfigError(
            f"options.images: {path} is not a lock of images: {why}; wanted "
            '{"images": {"NAME:TAG": "sha256:…"}}, which genbench mirror SUITE --to DIR writes'
        ) from None


def write_lock(path: Path, images: Mapping[str, str]) -> None:
    """Write a lock of images."""
    write_whole(path, json.dumps({"images": dict(sorted(images.items()))}, indent=1).encode() + b"\n")


def read_image_plan(images: str, grader: str | None, kit: str | None, limits: BoxOptions | None) -> ImagePlan:
    """Return what a suite says of images.

    Raises:
        ConfigError: the lock or the kit cannot be read, or swebench is not installed where it should be.
    """
    path = Path(images)
    found = BoxLimits(**(limits or BoxOptions()).model_dump())
    own = swe.Grader(Path(grader)) if grader else None
    return ImagePlan(
        read_lock(path), path, found, own, Store(default_store()), Kit(Path(kit) if kit else None)
    )
