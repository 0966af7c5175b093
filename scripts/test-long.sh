#!/usr/bin/env bash
# The long tests: every randomised suite (random plans, hostile input, kills, bad networks) with 20 times as many cases, or the factor in
# ZONEWRIGHT_TEST_ROUNDS, and the growth benchmark. Arguments select files: `npm run test:long -- test/faults`.
set -euo pipefail
cd "$(dirname "$0")/.."
export ZONEWRIGHT_TEST_ROUNDS=${ZONEWRIGHT_TEST_ROUNDS:-20}

if [ $# -eq 0 ]; then mapfile -t files < <(grep -rlE '\b(rounds|faultTests|conformanceTests)\(' test --include='*.test.ts' | sort); else files=("$@"); fi
bash scripts/test.sh "${files[@]}"
node bench/growth.mjs
