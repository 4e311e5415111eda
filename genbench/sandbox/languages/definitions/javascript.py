"""JavaScript by Node.js."""

from genbench.sandbox.languages.language import Language, Step

LANGUAGE = Language(
    name="js",
    title="JavaScript",
    file="main.js",
    package="nodejs",
    version=("node", "--version"),
    # One line of a program's own `;` ends an expression that was left open.
    run=Step(("node", "--max-old-space-size=512", "--v8-pool-size=1", "main.js"), memory_mib=2048),
    after='\n;require("node:fs").writeSync(1, "\\n{first}" + "{second}\\n");\n',
    failed=r"AssertionError",
    out_of_memory=r"heap out of memory|ENOMEM|Array buffer allocation failed",
    view=("/usr/share/nodejs", "/usr/share/node_modules"),
    environment=(("UV_THREADPOOL_SIZE", "1"), ("OPENSSL_CONF", "/dev/null")),
)
