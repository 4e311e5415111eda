"""Makes the pictures of the documentation again: the demo in two terminals, and its report in a browser.

`python docs/pictures/make.py` runs `genbench run quickstart` with a real engine, which takes a few minutes.
The second terminal shows the same command again, which finds all samples on disk.
With the folder of such a run as argument only the pages are drawn again. Chromium and its driver must be
there (`sh requirements/system.sh dev`).
"""

from __future__ import annotations

import base64
import fcntl
import os
import pty
import re
import shutil
import struct
import sys
import tempfile
import termios
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console
from rich.text import Text
from selenium import webdriver
from selenium.webdriver.chrome.service import Service

HERE = Path(__file__).parent
GENBENCH = Path(sys.executable).with_name("genbench")
ROWS = 40
WIDTHS = (80, 120)
SAMPLE = "#arithmetic/long_sum-fcb58a8d/0"
PAGES: Mapping[str, tuple[int, int, str, str]] = {
    "page-desktop-light": (1280, 900, "light", ""),
    "page-desktop-dark": (1280, 900, "dark", SAMPLE),
    "page-phone-light": (390, 844, "light", ""),
    "page-phone-dark": (390, 844, "dark", SAMPLE),
}
"""Name -> width, height, colours, and fragment of the address."""


def record(command: Sequence[str], columns: int, folder: Path) -> bytes:
    """Run a command in a terminal of so many columns. Return everything that it wrote."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(folder)
        os.environ |= {"COLUMNS": str(columns), "TERM": "xterm-256color"}
        os.execv(command[0], list(command))
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, columns, 0, 0))
    parts: list[bytes] = []
    while True:
        try:
            part = os.read(terminal, 65536)
        except OSError:  # the terminal is closed when the command ends
            break
        if not part:
            break
        parts.append(part)
    os.waitpid(pid, 0)
    os.close(terminal)
    return b"".join(parts)


def screen(written: bytes) -> list[str]:
    """Return the lines that are left on a terminal. A line that is redrawn leaves only its last state."""
    lines = []
    for line in written.decode("utf-8", "replace").replace("\r\n", "\n").split("\n"):
        last = re.split(r"\r(?:\x1b\[K)?", line)[-1]
        lines.append(re.sub(r"\x1b\[[0-9;]*[A-Za-z]", "", last))
    while lines and not lines[-1]:
        lines.pop()
    return lines


def wrapped(lines: Sequence[str], columns: int) -> list[str]:
    """Return the lines as a terminal shows them, broken at its width."""
    return [line[at : at + columns] for line in lines for at in range(0, max(len(line), 1), columns)]


def draw_terminal(lines: Sequence[str], columns: int, title: str, path: Path) -> None:
    """Write lines as an SVG of a terminal. Its fonts are those of the reader, so that nothing is loaded."""
    with Path(os.devnull).open("w", encoding="utf-8") as nowhere:
        console = Console(record=True, width=columns, file=nowhere, force_terminal=True)
        for line in wrapped(lines, columns):
            console.print(Text(line), no_wrap=True, overflow="crop")
        plain = re.sub(r"@font-face \{\{.*?\}\}\s*", "", CONSOLE_SVG_FORMAT, flags=re.DOTALL)
        path.write_text(console.export_svg(title=title, code_format=plain), encoding="utf-8")


@contextmanager
def browser() -> Iterator[Any]:
    """Give headless Chromium."""
    options = webdriver.ChromeOptions()
    options.binary_location = str(shutil.which("chromium"))
    for flag in ("headless=new", "no-sandbox", "disable-gpu", "hide-scrollbars", "disable-dev-shm-usage"):
        options.add_argument(f"--{flag}")
    driver = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
    try:
        yield driver
    finally:
        driver.quit()


def draw_pages(page: Path, folder: Path = HERE) -> None:
    """Write pictures of a report: desktop and phone, light and dark."""
    with browser() as driver:
        for name, (width, height, colours, fragment) in PAGES.items():
            size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
            driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
            media = {"features": [{"name": "prefers-color-scheme", "value": colours}]}
            driver.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
            driver.get("about:blank")
            driver.get(page.absolute().as_uri() + fragment)
            if fragment:
                where = "filters" if width > 600 else "sample"
                driver.execute_async_script(
                    "const done = arguments[0];"
                    f"setTimeout(() => (document.getElementById('{where}').scrollIntoView(), done()), 500);"
                )
            shot = driver.execute_cdp_cmd(
                "Page.captureScreenshot", {"format": "png", "optimizeForSpeed": False}
            )
            (folder / f"{name}.png").write_bytes(base64.b64decode(shot["data"]))
            print(f"drew {name}.png")


def draw_demo(folder: Path) -> Path:
    """Run the demo in each width and write its pictures. Return the page of the run."""
    place = "runs/quickstart"
    for columns in WIDTHS:
        run = [str(GENBENCH), "run", "quickstart", "--run-dir", place, "--interim"]
        compare = [str(GENBENCH), "compare", f"{place}/base", f"{place}/tuned"]
        for name, command in (("run", run), ("compare", compare)):
            written = record(command, columns, folder)
            (folder / f"{name}-{columns}.bytes").write_bytes(written)
            title = " ".join(["genbench", *command[1:]])
            draw_terminal(screen(written), columns, title, HERE / f"{name}-{columns}.svg")
            print(f"drew {name}-{columns}.svg")
    return folder / place / "report.html"


if __name__ == "__main__":
    if len(sys.argv) > 1:
        draw_pages(Path(sys.argv[1]) / "report.html")
    else:
        with tempfile.TemporaryDirectory(prefix="genbench-pictures-") as made:
            draw_pages(draw_demo(Path(made)))
