#!/bin/sh
# One night: draw, decide, report. cron, Slurm and GitHub call this script.
#
#   SUITE=nightly.yaml CHECKPOINT=./checkpoints/latest ./night.sh [more options of genbench run]
#
# SUITE       the suite, with a key `track:`
# MODEL       the watched model of the suite; default: tuned
# BASE        the model of the suite that it is compared with; default: base
# CHECKPOINT  path of tonight's checkpoint; default: the path in the suite
# NIGHT       the night as a date like 2026-11-22; default: tonight
# POLICY      a policy of `genbench gate`; default: the tasks that the suite declares gating
# OUT         where gate.txt, gate.json and night.md go; default: runs/tonight
# POST_URL    a webhook that takes {"text": …}, such as Slack's; default: nothing is posted
#
# Exit codes: 0 pass, 1 the gate failed, 2 something could not be done, 130 stopped (run it again).
set -u
: "${SUITE:?name the suite in the variable SUITE}"
model=${MODEL:-tuned}
base=${BASE:-base}
out=${OUT:-runs/tonight}
night=--night
[ -z "${NIGHT:-}" ] || night=--night-of=$NIGHT
mkdir -p "$out" || exit 2

# The folder of a model in the JSON that `genbench run --json` printed.
folder_of() {
    python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["folders"][sys.argv[2]])' "$1" "$2"
}

# The base is drawn once, in the first night. Draw it again after an update of driver or engine.
if ! genbench ledger list >/dev/null 2>&1; then
    genbench run "$SUITE" --model "$base" "$night" --json "$@" >"$out/base.json" || exit $?
    base_folder=$(folder_of "$out/base.json" "$base") || exit 2
    genbench ledger add "$base_folder" || exit 2
fi

genbench run "$SUITE" --model "$model${CHECKPOINT:+=$CHECKPOINT}" "$night" --json "$@" >"$out/run.json"
code=$?
[ "$code" -le 1 ] || exit "$code" # 1: the run failed, which the gate says with its reason
tonight=$(folder_of "$out/run.json" "$model") || exit 2

genbench gate "$tonight" ${POLICY:+--policy "$POLICY"} --json >"$out/gate.json"
decision=$?
[ "$decision" -le 1 ] || exit "$decision"
genbench gate "$tonight" ${POLICY:+--policy "$POLICY"} >"$out/gate.txt"
genbench report "$tonight" --format md -o "$out/report.md" || exit 2
{
    printf '```\n'
    cat "$out/gate.txt"
    printf '```\n\n'
    cat "$out/report.md"
} >"$out/night.md"

if [ -n "${POST_URL:-}" ]; then
    python3 -c 'import json, sys; print(json.dumps({"text": open(sys.argv[1]).read()}))' "$out/gate.txt" |
        curl -fsS -H 'Content-Type: application/json' --data @- "$POST_URL" >/dev/null ||
        echo "night.sh: the report could not be posted" >&2
fi
cat "$out/gate.txt"
exit "$decision"
