import json
import urllib.request
from typing import Any

BASH = {
    "type": "function",
    "function": {
        "name": "bash",
        "description": "Run a command.",
        "parameters": {
            "type": "object",
            "properties": {"command": {"type": "string"}},
            "required": ["command"],
        },
    },
}


class LitellmModel:
    def __init__(self, model_name: str, model_kwargs: dict[str, Any], **_: Any) -> None:
        self.name, self.given = model_name, model_kwargs

    def query(self, messages: list[dict[str, Any]]) -> dict[str, Any]:
        body = json.dumps({"model": self.name, "messages": messages, "tools": [BASH]}).encode()
        headers = {
            "Authorization": f"Bearer {self.given['api_key']}",
            "Content-Type": "application/json",
        }
        url = f"{self.given['api_base']}/chat/completions"
        with urllib.request.urlopen(urllib.request.Request(url, body, headers)) as reply:
            found: dict[str, Any] = json.loads(reply.read())["choices"][0]["message"]
        return found
