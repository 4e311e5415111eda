"""Bash. MultiPL-E calls the language sh."""

from genbench.sandbox.languages.language import Language, Step

LANGUAGE = Language(
    name="sh",
    title="Bash",
    file="main.sh",
    package="bash",
    version=("bash", "--version"),
    run=Step(("bash", "main.sh"), memory_mib=512),
    # The tests rely on `set -e`, which a function named `set` would prevent. A keyword cannot be redefined.
    after="\n[[ $- == *e* ]] || exit 1\nprintf '\\n%s%s\\n' '{first}' '{second}'\n",
    # `<(command)` is a name below /dev/fd.
    proc=True,
    failed=r"(?!)",
    out_of_memory=r"cannot allocate",
)
