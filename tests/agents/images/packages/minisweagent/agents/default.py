import json
from pathlib import Path
from typing import Any

from minisweagent.exceptions import Submitted


class DefaultAgent:
    def __init__(self, model: Any, env: Any, *, output_path: Path, step_limit: int, **_: Any) -> None:
        self.model, self.env, self.output_path, self.step_limit = model, env, output_path, step_limit
        self.n_calls = 0

    def run(self, task: str) -> dict[str, Any]:
        ended = {"exit_status": "LimitsExceeded", "submission": ""}
        messages = [{"role": "user", "content": task}]
        try:
            for _ in range(self.step_limit):
                self.n_calls += 1
                said = self.model.query(messages)
                messages.append(said)
                for call in said["tool_calls"]:
                    done = self.env.execute(json.loads(call["function"]["arguments"]))
                    messages.append({"role": "tool", "tool_call_id": call["id"], "content": done["output"]})
        except Submitted as end:
            ended = end.args[0]["extra"]
        self.output_path.write_text(json.dumps({"info": ended, "messages": messages}))
        return ended
