"""C++ by g++, as MultiPL-E compiles it (C++17)."""

from genbench.sandbox.languages.language import Language, Step

_TESTS = "int genbench_tests()"
LANGUAGE = Language(
    name="cpp",
    title="C++",
    file="main.cpp",
    package="g++",
    version=("g++", "-dumpfullversion"),
    compile=Step(
        ("g++", "-std=c++17", "-pipe", "main.cpp", "-o", "program"),
        wall_s=60.0,
        memory_mib=2048,
        file_mib=64,
        work_mib=128,
        keep=("program",),
    ),
    run=Step(("./program",)),
    # A program may switch its asserts off. They are on again for the tests.
    entry=("int main()", f"#undef NDEBUG\n#undef assert\n#include <assert.h>\n{_TESTS}"),
    after=(
        "#include <cstdio>\n#undef main\n#undef return\n"
        'int main() { genbench_tests(); std::printf("\\n%s%s\\n", "{first}", "{second}");'
        " std::fflush(stdout); return 0; }\n"
    ),
    failed=r"Assertion .* failed",
    out_of_memory=r"std::bad_alloc|out of memory",
    main=r"^\s*(?:int|auto|void)\s+main\s*\(",
)
