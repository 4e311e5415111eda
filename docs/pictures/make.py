"""Makes the pictures of the documentation again: the demo in two terminals, its report, and the service.

`python docs/pictures/make.py` runs `genbench run quickstart` with a real engine, which takes a few minutes.
The second terminal shows the same command again, which finds all samples on disk.
With the folder of such a run as argument only the pages are drawn again, and with `service` only those of
`genbench serve --demo`. `real RUN_DIR` draws the page of a run of `benchmarks/parity_cpu.py pair`.
Chromium and its driver must be there (`sh requirements/system.sh dev`).
"""

from __future__ import annotations

import base64
import fcntl
import io
import os
import pty
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from PIL import Image
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
    "page-desktop-light": (1440, 900, "light", ""),
    "page-desktop-dark": (1440, 900, "dark", SAMPLE),
    "page-phone-light": (390, 844, "light", ""),
    "page-phone-dark": (390, 844, "dark", SAMPLE),
}
"""Name -> width, height, colours, and fragment of the address."""
REAL: Mapping[str, tuple[int, int, str, str]] = {"real-desktop-light": (1440, 900, "light", "")}
"""The same of a run of SmolLM2-135M-Instruct and a copy that rarely ends its turn."""


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


def set_screen(driver: Any, width: int, height: int, colours: str) -> None:
    """Give a browser a screen of some size and colours."""
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    media = {"features": [{"name": "prefers-color-scheme", "value": colours}]}
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", media)


def shoot(driver: Any, path: Path) -> None:
    """Write a picture of what a browser shows, with 256 colours so that it stays small."""
    shot = driver.execute_cdp_cmd("Page.captureScreenshot", {"format": "png", "optimizeForSpeed": False})
    picture = Image.open(io.BytesIO(base64.b64decode(shot["data"]))).convert("RGB")
    picture.quantize(256).save(path, optimize=True)
    print(f"drew {path.name}")


SERVED: Mapping[str, tuple[int, int, str, str]] = {
    "service-compare": (1440, 900, "light", "the two runs around the first alarm"),
    "service-desktop-light": (1440, 900, "light", "/"),
    "service-desktop-dark": (1440, 900, "dark", "/tracks/simulated-nightly/series/arithmetic"),
    "service-phone-light": (390, 844, "light", "/"),
    "service-phone-dark": (390, 844, "dark", "a problem of the first alarm"),
}
"""Name -> width, height, colours, and page."""
_PORT = 8399
_TRACK = "simulated-nightly"


def draw_service(folder: Path) -> None:
    """Write pictures of the pages of `genbench serve --demo`, which is filled in a folder."""
    address = f"http://127.0.0.1:{_PORT}"
    command = [str(GENBENCH), "serve", "--demo", "--port", str(_PORT)]
    with (
        subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE, text=True) as server,
        browser() as driver,
    ):
        try:
            assert server.stderr is not None
            next(line for line in server.stderr if line.startswith(address))
            time.sleep(2)
            for name, (width, height, colours, page) in SERVED.items():
                set_screen(driver, width, height, colours)
                driver.get(address + (page if page.startswith("/") else "/"))
                if not page.startswith("/"):
                    link = "/compare?" if name == "service-compare" else "/samples?task="
                    driver.find_element("css selector", 'a[href*="/changes/"]').click()
                    driver.find_element("css selector", f'a[href*="{link}"]').click()
                time.sleep(2)
                shoot(driver, HERE / f"{name}.png")
        finally:
            server.terminate()
    draw_track(folder)


def draw_track(folder: Path) -> None:
    """Draw what trend and gate say of the track that the demo of the service has made."""
    demo = folder / "genbench-demo"
    newest = max((demo / "runs" / _TRACK).glob("*/*/manifest.json")).parent
    shown = {"trend": ["trend", _TRACK], "gate": ["gate", str(newest)]}
    for name, command in shown.items():
        ledger = ["--ledger", str(demo / "ledger.sqlite3")]
        written = record([str(GENBENCH), *command, *ledger], WIDTHS[-1], folder)
        draw_terminal(screen(written), WIDTHS[-1], f"genbench {command[0]}", HERE / f"{name}-120.svg")
        print(f"drew {name}-120.svg")


def draw_pages(
    page: Path, folder: Path = HERE, pages: Mapping[str, tuple[int, int, str, str]] = PAGES
) -> None:
    """Write pictures of a report: desktop and phone, light and dark."""
    with browser() as driver:
        for name, (width, height, colours, fragment) in pages.items():
            set_screen(driver, width, height, colours)
            driver.get("about:blank")
            driver.get(page.absolute().as_uri() + fragment)
            if fragment:
                where = "filters" if width > 600 else "sample"
                driver.execute_async_script(
                    "const done = arguments[0];"
                    f"setTimeout(() => (document.getElementById('{where}').scrollIntoView(), done()), 500);"
                )
            shoot(driver, folder / f"{name}.png")


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
    with tempfile.TemporaryDirectory(prefix="genbench-pictures-") as made:
        if sys.argv[1:] == ["service"]:
            draw_service(Path(made))
        elif sys.argv[1:2] == ["real"]:
            draw_pages(Path(sys.argv[2]) / "report.html", pages=REAL)
        elif len(sys.argv) > 1:
            draw_pages(Path(sys.argv[1]) / "report.html")
        else:
            draw_pages(draw_demo(Path(made)))
            draw_service(Path(made))
