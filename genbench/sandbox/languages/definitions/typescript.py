"""TypeScript by tsc and Node.js. A type error is an error of compilation, as with ts-node."""

from genbench.sandbox.languages.definitions.javascript import LANGUAGE as JAVASCRIPT
from genbench.sandbox.languages.language import Language, Step

_OPTIONS = ("--target", "es2020", "--module", "commonjs", "--skipLibCheck", "--noEmitOnError")
LANGUAGE = Language(
    name="ts",
    title="TypeScript",
    file="main.ts",
    package="node-typescript",
    version=("tsc", "--version"),
    compile=Step(("tsc", *_OPTIONS, "main.ts"), wall_s=60.0, memory_mib=2048, keep=("main.js",)),
    run=JAVASCRIPT.run,
    after='\n;require("node:fs").writeSync(1, "\\n{first}" + "{second}\\n");\n',
    failed=JAVASCRIPT.failed,
    out_of_memory=JAVASCRIPT.out_of_memory,
    view=JAVASCRIPT.view,
    environment=JAVASCRIPT.environment,
)
