#!/usr/bin/env bash
# `npm test`: the tests that need Node alone; `npm run lint` has the architecture rules. Arguments go to vitest: `npm test -- test/plan`.
set -euo pipefail
cd "$(dirname "$0")/.."
# A tenth of the random cases, whose seed is fixed; `npm run test:long` runs all of them and many more.
export ZONEWRIGHT_TEST_ROUNDS=${ZONEWRIGHT_TEST_ROUNDS:-0.1}
# Files that only cost the time to load them.
export ZONEWRIGHT_TEST_EXCLUDE='test/**/*.servers.test.ts,test/architecture/**'

# `.ci/run` has built the program already.
[ -n "${ZONEWRIGHT_TEST_PROGRAM:-}" ] || npm run --silent build
export ZONEWRIGHT_TEST_PROGRAM=$PWD/dist/zonewright.js
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
status=0
node_modules/.bin/vitest run --project all --tags-filter '!servers && !long' --reporter=default --reporter=json --outputFile.json="$work/results.json" "$@" </dev/null || status=$?
node scripts/test-summary.mjs "$work" "$status"
echo "Also: npm run test:servers (real name servers, PostgreSQL, a browser, other clients) and npm run test:long (slow cases, many random ones)."
exit "$status"
