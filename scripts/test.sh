#!/usr/bin/env bash
# All tests. Arguments go to vitest: `npm test -- test/plan`.
# The suites against real DNS servers run where the servers are, or where they can be installed (Debian, root); elsewhere they are
# skipped and counted. ZONEWRIGHT_REQUIRE_DNS_SERVERS=1 makes a missing server a failure. octoDNS, a judge of what is exported for
# it, is put into node_modules where there is a Python 3.
set -euo pipefail
cd "$(dirname "$0")/.."

npm run --silent build

missing=$(bash scripts/install-dns-servers.sh --missing)
if [ -n "$missing" ] && command -v apt-get >/dev/null && [ "$(id -u)" = 0 ]; then
  echo "Installing DNS servers for the tests (missing: $missing)"
  bash scripts/install-dns-servers.sh || echo "The installation failed." >&2
  missing=$(bash scripts/install-dns-servers.sh --missing)
fi
if [ -n "$missing" ]; then
  if [ "${ZONEWRIGHT_REQUIRE_DNS_SERVERS:-}" = 1 ]; then
    echo "ERROR: these programs are required and missing: $missing" >&2
    exit 1
  fi
  cat >&2 <<EOF
!!! Suites that need these programs will be SKIPPED: $missing
!!! To run them: sudo bash scripts/install-dns-servers.sh (Debian and its relatives)
EOF
fi

if [ -z "${ZONEWRIGHT_OCTODNS:-}" ] && ! command -v octodns-sync >/dev/null; then
  ZONEWRIGHT_OCTODNS=$(bash scripts/install-octodns.sh) || echo "octoDNS could not be installed." >&2
  if [ -n "$ZONEWRIGHT_OCTODNS" ]; then export ZONEWRIGHT_OCTODNS; else
    unset ZONEWRIGHT_OCTODNS
    echo "!!! Suites that need octoDNS will be SKIPPED: Python 3 with venv and a package index are needed." >&2
  fi
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export ZONEWRIGHT_SKIP_LOG="$work/skipped"
status=0
node_modules/.bin/vitest run --reporter=default --reporter=json --outputFile.json="$work/results.json" "$@" </dev/null || status=$?
node scripts/test-summary.mjs "$work/results.json" "$ZONEWRIGHT_SKIP_LOG" "$status"
exit "$status"
