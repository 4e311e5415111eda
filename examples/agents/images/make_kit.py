"""Makes a kit for tests that get uv and let it run pytest, as those of Terminal-Bench do. It needs a network.

    python make_kit.py FOLDER --uv 0.9.5 --python 3.13 pytest==8.4.1 pytest-json-ctrf==0.3.5

The kit gets bin/uv and bin/uvx, a Python, the wheels with what they need, and an answer to uv's installer.
Packages of another call are added to a kit that is there; its uv is that of the last call.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

INSTALL = """\
#!/bin/sh
# Stands for uv's installer: the programs are those of the kit.
mkdir -p "$HOME/.local/bin"
ln -sf /opt/genbench-kit/bin/uv /opt/genbench-kit/bin/uvx "$HOME/.local/bin/"
echo 'export PATH="$HOME/.local/bin:$PATH"' > "$HOME/.local/bin/env"
"""


def download(to: Path, *words: str) -> None:
    """Fetch wheels with pip."""
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "--only-binary=:all:", "-d", str(to), *words], check=True)


def get_uv(kit: Path, version: str) -> None:
    """Write the programs of uv, which its wheel has."""
    with tempfile.TemporaryDirectory() as name:
        download(Path(name), "--no-deps", f"uv=={version}")
        (wheel,) = Path(name).glob("*.whl")
        with zipfile.ZipFile(wheel) as archive:
            for program in ("uv", "uvx"):
                (entry,) = [one for one in archive.namelist() if one.endswith(f"/scripts/{program}")]
                path = kit / "bin" / program
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(archive.read(entry))
                path.chmod(0o755)


def get_python(kit: Path, given: str) -> None:
    """Write a Python: a folder that is one, or a version that uv fetches."""
    place = kit / "python"
    if Path(given).is_dir():
        to = place / f"cpython-{Path(given).name}-linux-x86_64-gnu"
        unused = shutil.ignore_patterns("test", "__pycache__", "*.a", "config-*", "site-packages")
        shutil.copytree(given, to, symlinks=True, dirs_exist_ok=True, ignore=unused)
        return
    words = [str(kit / "bin" / "uv"), "python", "install", "--install-dir", str(place), given]
    subprocess.run(words, check=True)


def main() -> None:
    """Write the kit that the command line describes."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("packages", nargs="+")
    parser.add_argument("--uv", required=True, metavar="VERSION")
    parser.add_argument("--python", required=True, metavar="VERSION|FOLDER")
    given = parser.parse_args()
    kit: Path = given.folder
    get_uv(kit, given.uv)
    get_python(kit, given.python)
    version = ".".join(Path(given.python).name.split(".")[:2])
    download(kit / "wheels", "--python-version", version, *given.packages)
    (kit / "files").mkdir(exist_ok=True)
    (kit / "files" / "install.sh").write_text(INSTALL)
    urls = kit / "urls.txt"
    lines = urls.read_text().splitlines() if urls.exists() else []
    lines += [f"https://astral.sh/uv/{part}install.sh files/install.sh" for part in (f"{given.uv}/", "")]
    urls.write_text("".join(f"{line}\n" for line in dict.fromkeys(lines)))
    size = sum(path.stat().st_size for path in kit.rglob("*") if path.is_file())
    print(f"{kit}: {len(list((kit / 'wheels').iterdir()))} wheels, {size / 1e6:,.1f} MB")


if __name__ == "__main__":
    main()
