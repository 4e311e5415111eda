"""An engine whose replies are those of an agent: traces, calls, diffs, and texts that try to be markup."""

from __future__ import annotations

from typing import ClassVar

from genbench.engines.simple import SimpleConfig, SimpleEngine
from genbench.types import Completion, Request

PATCH = """\
diff --git a/sum.py b/sum.py
--- a/sum.py
+++ b/sum.py
@@ -1,2 +1,2 @@
 def total(values):
-    return 0
+    return sum(values)
"""
HOSTILE = "<img src=x onerror=\"document.title='owned'\"></script><script>document.title='owned'</script>"


def call(command: str) -> str:
    return f'<tool_call>\n{{"name": "bash", "arguments": {{"command": "{command}"}}}}\n</tool_call>'


class Engine(SimpleEngine):
    """See the top."""

    Config: ClassVar[type[SimpleConfig]] = SimpleConfig
    version: ClassVar[str] = "1"

    async def generate(self, request: Request, attempt: int) -> Completion:
        said = {
            0: f"<think>where is it {HOSTILE}</think>I look, for $5 and $HOME. {HOSTILE}\n{call('ls -l')}",
            1: call("git log --all --oneline"),
            2: f"The patch:\n{PATCH}Done {HOSTILE} \u202eright to left",
        }
        text = said.get(request.turn, f"turn {request.turn} of {request.sample.problem_id}")
        return self.completion(request, attempt, text, prompt_tokens=7, completion_tokens=5)
