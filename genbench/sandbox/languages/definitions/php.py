"""PHP."""

from genbench.sandbox.languages.language import Language, Step, with_head


def whole(program: str, prompt: str) -> str:
    """Return a program without the mark that ends PHP, which the tests continue."""
    return with_head(program.removesuffix("?>").rstrip(), prompt)


LANGUAGE = Language(
    name="php",
    title="PHP",
    file="main.php",
    package="php-cli",
    version=("php", "--version"),
    run=Step(
        ("php", "-n", "-d", "display_errors=stderr", "-d", "memory_limit=512M", "main.php"), memory_mib=1024
    ),
    after='\nfwrite(STDOUT, "\\n{first}" . "{second}\\n");\n',
    whole=whole,
    failed=r"Test failed!",
    view=("/usr/share/zoneinfo",),
    out_of_memory=r"Allowed memory size",
)
