from __future__ import annotations

import subprocess
import sys

ALLOWED = frozenset(
    {"genbench", "typer", "click", "annotated_doc", "typing_extensions", "shellingham", "colorama"}
)
"""Third-party packages that `genbench --help` may import; heavy ones would cost the user seconds."""


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys\n"
        "sys.argv = ['genbench', '--help']\n"
        "from genbench.cli import main\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        "import json\n"
        "print('@@' + json.dumps(sorted({name.partition('.')[0] for name in sys.modules})))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    import json

    names = set(json.loads(done.stdout.partition("@@")[2]))
    plain = subprocess.run(
        [sys.executable, "-c", "import sys; print('\\n'.join(sys.modules))"],
        capture_output=True,
        text=True,
        check=True,
    )
    third = names - sys.stdlib_module_names - {name.partition(".")[0] for name in plain.stdout.split()}
    assert third <= ALLOWED, third - ALLOWED
