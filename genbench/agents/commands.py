"""Commands of agents: the container images of this machine."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from genbench.cli.app import command_group, examples
from genbench.cli.options import DataOption, JsonOption
from genbench.cli.output import print_json

images_app = command_group("images")
StoreOption = Annotated[
    Path | None, typer.Option("--store", envvar="GENBENCH_IMAGES", help="The folder of the images.")
]


@images_app.callback()
def images() -> None:
    """Keep container images of agent tasks: no daemon, no root."""


@images_app.command("list", epilog=examples("genbench images list"))
def images_list(store: StoreOption = None, as_json: JsonOption = False) -> None:
    """List the images of this machine."""
    from genbench.agents.images.store import Store, default_store

    place = Store(store or default_store())
    found = {name: place.find(name) for name in place.names()}
    sizes = {name: sum(blob.size for blob in image.blobs) for name, image in found.items()}
    if as_json:
        records = [
            {"name": name, "digest": image.digest, "layers": len(image.layers), "bytes": sizes[name]}
            for name, image in found.items()
        ]
        print_json(
            {"store": str(place.folder), "ids": place.ids.kind, "free": place.facts(), "images": records}
        )
        return
    for name, image in found.items():
        print(f"{name}  {image.digest}  {len(image.layers)} layers  {sizes[name] / 1e6:,.1f} MB")
    print(f"{len(found)} images in {place.folder}, {place.facts()['bytes'] / 1e9:,.1f} GB free")


@images_app.command(
    "add", epilog=examples("genbench images add layout/", "genbench images add layout/ --name task:1")
)
def images_add(
    layout: Annotated[Path, typer.Argument(help="A folder in the OCI image layout.")],
    name: Annotated[str | None, typer.Option("--name", help="The name of its one image.")] = None,
    store: StoreOption = None,
) -> None:
    """Take the images of a layout, as skopeo, docker buildx and genbench mirror write it."""
    from genbench.agents.images.layout import Layout
    from genbench.agents.images.store import Store, default_store

    place = Store(store or default_store())
    for known, image, copied in place.add(Layout(layout), name):
        print(f"{known}  {image.digest}  {copied / 1e6:,.1f} MB copied")


@images_app.command("check", epilog=examples("genbench images check", "genbench images check task:1"))
def images_check(
    names: Annotated[list[str] | None, typer.Argument(help="Images. Default: all.")] = None,
    store: StoreOption = None,
) -> None:
    """Read images whole and compare their digests. Exit code 1: one is broken."""
    from genbench.agents.images.store import Store, default_store

    place = Store(store or default_store())
    bad = 0
    for name in names or place.names():
        broken = place.layout.broken(place.find(name))
        bad += bool(broken)
        print(f"{name}  " + ("ok" if not broken else f"BROKEN: {', '.join(blob.digest for blob in broken)}"))
    if bad:
        raise typer.Exit(1)


@images_app.command(
    "remove", epilog=examples("genbench images remove task:1", "genbench images remove --keep-gib 200")
)
def images_remove(
    names: Annotated[list[str] | None, typer.Argument(help="Images.")] = None,
    keep_gib: Annotated[
        float | None,
        typer.Option(
            "--keep-gib",
            min=0,
            help="Also remove unpacked layers, the longest unused first, down to so much.",
        ),
    ] = None,
    store: StoreOption = None,
) -> None:
    """Remove images, unpacked layers, and what boxes left behind. What is in use stays."""
    from genbench.agents.images.store import Store, default_store

    place = Store(store or default_store())
    for name in names or []:
        print(f"{name}  {place.remove(name) / 1e6:,.1f} MB freed")
    removed = [] if keep_gib is None else place.trim(int(keep_gib * (1 << 30)))
    print(f"{len(removed)} unpacked layers and {place.sweep()} folders of ended boxes removed")


@images_app.command(
    "prove",
    epilog=examples("genbench images prove suite.yaml", "genbench images prove suite.yaml --workers 8"),
)
def images_prove(
    suite: Annotated[Path, typer.Argument(help="A suite whose tasks have images.")],
    workers: Annotated[int, typer.Option("--workers", min=1, help="Problems at the same time.")] = 4,
    again: Annotated[bool, typer.Option("--again", help="Try again what was tried before.")] = False,
    data_dir: DataOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show which problems can be judged here: twice the known solution is right, and none is not.

    A run draws only those. The others are left out by name. Exit code 1: none can be judged.
    """
    from genbench.agents.images.mirror import prove

    found = []
    for item in prove(suite, workers=workers, again=again, data_dir=data_dir):
        found.append(item)
        if not as_json:
            said = "can be judged" if item.why is None else f"CANNOT: {item.why}"
            print(f"{item.task} {item.problem}  {item.seconds:,.1f} s  {said}", flush=True)
    good = sum(item.why is None for item in found)
    if as_json:
        print_json(
            [{"task": i.task, "problem": i.problem, "seconds": i.seconds, "why": i.why} for i in found]
        )
    else:
        print(f"{good} of {len(found)} can be judged here")
    if not good:
        raise typer.Exit(1)
