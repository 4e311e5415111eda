import json
from types import SimpleNamespace
from typing import Any


def make_test_spec(instance: dict[str, Any]) -> Any:
    names = {key: json.loads(instance[key]) for key in ("FAIL_TO_PASS", "PASS_TO_PASS")}
    return SimpleNamespace(eval_script=instance["eval_script"], names=names)
