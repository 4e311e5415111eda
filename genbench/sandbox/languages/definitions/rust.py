"""Rust by rustc, without crates."""

from genbench.sandbox.languages.language import Language, Step

LANGUAGE = Language(
    name="rs",
    title="Rust",
    file="main.rs",
    package="rustc",
    version=("rustc", "--version"),
    compile=Step(
        ("rustc", "--edition", "2021", "-A", "warnings", "-C", "codegen-units=1", "-o", "program", "main.rs"),
        wall_s=60.0,
        memory_mib=2048,
        file_mib=64,
        work_mib=128,
        keep=("program",),
    ),
    run=Step(("./program",)),
    entry=("fn main()", "fn genbench_tests()"),
    after=(
        '\nfn main() {\n    genbench_tests();\n    ::std::println!("\\n{}{}", "{first}", "{second}");\n}\n'
    ),
    # The compiler finds its libraries by its own path, which it asks /proc for.
    links=(("/proc/self/exe", "/usr/bin/rustc"),),
    failed=r"assertion `?left|assertion failed",
    out_of_memory=r"memory allocation of",
    main=r"^\s*(?:pub\s+)?fn\s+main\s*\(",
)
