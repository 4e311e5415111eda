"""Go. The tests are functions of its testing package."""

import re

from genbench.sandbox.languages.language import Language, Step

_IMPORT = re.compile(r'^import\s*(?:\((.*?)\)|"[^"]*")', re.M | re.S)


def whole(program: str, prompt: str) -> str:
    """Return a Go file of the prompt's package, with the imports that the tests use."""
    package = re.search(r"^package\s+\w+", prompt, re.M)
    program = re.sub(r"^package\s+\w+[^\n]*\n?", "", program, count=1, flags=re.M)
    imported = "".join(found[0] for found in _IMPORT.finditer(program))
    needed = [f'import "{name}"' for name in ("testing", "fmt") if f'"{name}"' not in imported]
    return "\n".join([package[0] if package else "package main", *needed, program])


LANGUAGE = Language(
    name="go",
    title="Go",
    file="main_test.go",
    package="golang-go",
    version=("go", "version"),
    compile=Step(
        ("go", "test", "-c", "-vet=off", "-o", "program", "main_test.go", "line_test.go"),
        wall_s=120.0,
        memory_mib=3072,
        file_mib=64,
        work_mib=512,
        processes=128,
        keep=("program",),
    ),
    run=Step(("./program", "-test.paniconexit0"), memory_mib=2048),
    after="",
    # The package's own TestMain: a second one in the program does not compile.
    further=(
        "line_test.go",
        'package {package}\n\nimport (\n\tgenbenchOS "os"\n\tgenbenchTesting "testing"\n)\n\n'
        "func TestMain(m *genbenchTesting.M) {\n\tstatus := m.Run()\n\tif status == 0 {\n"
        '\t\tgenbenchOS.Stdout.WriteString("\\n{first}" + "{second}\\n")\n\t}\n'
        "\tgenbenchOS.Exit(status)\n}\n",
    ),
    package_line=r"^package\s+(\w+)",
    whole=whole,
    failed=r"--- FAIL",
    out_of_memory=r"out of memory|cannot allocate memory",
    view=("/usr/share/go-*",),
    environment=(
        ("GOCACHE", "{work}/go-cache"),
        ("GOPATH", "{work}/go"),
        ("GOFLAGS", "-mod=mod"),
        ("GO111MODULE", "off"),
        ("GOTOOLCHAIN", "local"),
        ("GOPROXY", "off"),
        ("CGO_ENABLED", "0"),
        ("GOMAXPROCS", "2"),
    ),
)
