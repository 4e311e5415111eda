import json
import urllib.request
from collections.abc import Callable


def get_model(name: str, *, base_url: str, api_key: str) -> Callable[[str], str]:
    def said(text: str) -> str:
        body = json.dumps({"model": name, "messages": [{"role": "user", "content": text}]}).encode()
        headers = {"Authorization": f"Bearer {api_key}", "Content-Type": "application/json"}
        request = urllib.request.Request(f"{base_url}/chat/completions", body, headers)
        with urllib.request.urlopen(request) as reply:
            return str(json.loads(reply.read())["choices"][0]["message"]["content"])

    return said
