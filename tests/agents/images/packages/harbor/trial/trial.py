import json
import os
import sys
import urllib.request
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from harbor.models.trial.config import TrialConfig


class Trial:
    def __init__(self, config: TrialConfig) -> None:
        self.config = config

    @classmethod
    async def create(cls, config: TrialConfig) -> "Trial":
        return cls(config)

    async def run(self) -> SimpleNamespace:
        assert self.config.verifier == {"disable": True}
        module, _, name = self.config.environment["import_path"].partition(":")
        folder = Path(self.config.task["path"])
        own = getattr(sys.modules[module], name)(folder / "environment", SimpleNamespace(workdir=None))
        await own.start(force_build=False)
        said = (folder / "instruction.md").read_text()
        for _ in range(self.config.agent["kwargs"]["max_turns"]):
            reply: dict[str, Any] = json.loads(ask(self.config.agent, said))
            for keys in reply["commands"]:
                said = str(await own.exec(keys["keystrokes"]))
            if reply["task_complete"]:
                break
        await own.stop(delete=True)
        return SimpleNamespace(verifier_result=None, exception_info=None, task_checksum="")


def ask(agent: dict[str, Any], said: str) -> str:
    body = json.dumps({"model": agent["model_name"], "messages": [{"role": "user", "content": said}]})
    headers = {"Authorization": f"Bearer {os.environ['OPENAI_API_KEY']}", "Content-Type": "application/json"}
    url = f"{agent['kwargs']['api_base']}/chat/completions"
    with urllib.request.urlopen(urllib.request.Request(url, body.encode(), headers)) as reply:
        return str(json.loads(reply.read())["choices"][0]["message"]["content"])
