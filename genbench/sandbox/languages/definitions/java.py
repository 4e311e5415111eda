"""Java by OpenJDK, with javatuples, which MultiPL-E's tests import."""

import re
from pathlib import Path

from genbench.sandbox.languages.language import Language, Step, with_head

_JAR = "/usr/share/java/javatuples.jar"
_SMALL = ("-Xshare:auto", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:ActiveProcessorCount=1")
# The loader finds a library next to its program by /proc, which the sandbox does not have.
_HOME = Path("/usr/bin/javac").resolve().parent.parent


def whole(program: str, prompt: str) -> str:
    """Return a program in the class that the tests call."""
    has_class = re.search(r"\bclass\s+Problem\b", program)
    return with_head(program if has_class else f"class Problem {{\n{program}", prompt)


LANGUAGE = Language(
    name="java",
    title="Java",
    file="Problem.java",
    package="default-jdk-headless",
    version=("javac", "-version"),
    compile=Step(
        (
            "javac",
            *(f"-J{option}" for option in (*_SMALL, "-Xmx512m")),
            "-cp",
            _JAR,
            "-nowarn",
            "Problem.java",
        ),
        wall_s=60.0,
        memory_mib=4096,
        keep=("*.class",),
    ),
    run=Step(
        ("java", *_SMALL, "-Xmx512m", "-Xss64m", "-ea", "-cp", f".:{_JAR}", "GenbenchMain"), memory_mib=4096
    ),
    after=(
        "class GenbenchMain {\n    public static void main(String[] args) throws Throwable {\n"
        "        Problem.main(args);\n"
        "        new java.io.FileOutputStream(java.io.FileDescriptor.out)"
        '.write(("\\n{first}" + "{second}\\n").getBytes());\n'
        "        System.exit(0);\n    }\n}\n"
    ),
    whole=whole,
    failed=r"java\.lang\.AssertionError",
    out_of_memory=r"java\.lang\.OutOfMemoryError|insufficient memory",
    main=r"^\s*public\s+static\s+void\s+main\s*\(",
    view=("/usr/share/java", "/etc/java-*-openjdk"),
    environment=(("JAVA_HOME", str(_HOME)), ("LD_LIBRARY_PATH", f"{_HOME}/lib")),
    needs=((_JAR, "libjavatuples-java"),),
)
