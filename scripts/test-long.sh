#!/usr/bin/env bash
# `npm run test:long`: the slow cases, and every randomised suite (random plans, hostile input, kills, bad networks) with five times as many cases, or the
# factor in ZONEWRIGHT_TEST_ROUNDS, and the growth benchmark. Arguments select files: `npm run test:long -- test/faults`.
set -euo pipefail
cd "$(dirname "$0")/.."
export ZONEWRIGHT_TEST_ROUNDS=${ZONEWRIGHT_TEST_ROUNDS:-5}

if [ $# -eq 0 ]; then mapfile -t files < <(grep -rlE '\b(rounds|faultTests|conformanceTests)\(|tags: .*long' test --include='*.test.ts' | sort); else files=("$@"); fi
# All tags: an empty filter would be the one of `test:servers`.
ZONEWRIGHT_TEST_TAGS='long || !long' bash scripts/test-servers.sh "${files[@]}"
node bench/growth.mjs
