"""PHP."""

from genbench.sandbox.languages.language import Language, Step

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
    failed=r"Test failed!",
    view=("/usr/share/zoneinfo",),
    out_of_memory=r"Allowed memory size",
)
