"""Ruby. The tests are classes of test-unit, which comes with it."""

from genbench.sandbox.languages.language import Language, Step

LANGUAGE = Language(
    name="rb",
    title="Ruby",
    file="main.rb",
    package="ruby",
    version=("ruby", "--version"),
    run=Step(("ruby", "main.rb"), memory_mib=1024),
    # By itself test-unit runs its classes when the process ends, which is after the line.
    after=(
        "\nTest::Unit::AutoRunner.need_auto_run = false\nexit(1) unless Test::Unit::AutoRunner.run\n"
        '$stdout.write("\\n{first}" + "{second}\\n")\n'
    ),
    failed=r"Failure: test",
    out_of_memory=r"NoMemoryError|failed to allocate memory",
    view=("/usr/share/rubygems-integration", "/usr/share/ruby"),
)
