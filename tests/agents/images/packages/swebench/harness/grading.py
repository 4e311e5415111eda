from pathlib import Path
from typing import Any

START, END = ">>>>> Start Test Output", ">>>>> End Test Output"
FAULTS = {"Cannot allocate memory": True, "no tests ran": False}


def get_eval_report(spec: Any, prediction: dict[str, Any], path: str, with_tests: bool) -> dict[str, Any]:
    log = Path(path).read_text()
    report: dict[str, Any] = {"patch_successfully_applied": False, "resolved": False, "infra_failure": False}
    found = {prediction["instance_id"]: report}
    lines = log.split(START)[1].split(END)[0].splitlines() if START in log and END in log else []
    states = {
        parts[1]: parts[0]
        for line in lines
        if len(parts := line.split()) == 2 and parts[0] in ("PASSED", "FAILED")
    }
    if not states:
        for text, is_ours in FAULTS.items():
            if text in log:
                report |= {"infra_failure": is_ours, "infra_failure_reason": text}
        return found
    wanted = [name for names in spec.names.values() for name in names]
    report |= {
        "patch_successfully_applied": True,
        "resolved": all(states.get(name) == "PASSED" for name in wanted),
        "tests_status": states,
    }
    return found
