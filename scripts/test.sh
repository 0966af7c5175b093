#!/usr/bin/env bash
# All tests. Arguments go to vitest: `npm test -- test/plan`.
# Suites against DNS servers, PostgreSQL, Chromium, octoDNS and clients in Go and Python run if these programs are installed. If CI or ZONEWRIGHT_INSTALL_SERVERS
# is set, missing programs are installed first: the servers as Debian packages (as root), octoDNS and the clients into node_modules. Otherwise the suites
# are skipped and counted.
# ZONEWRIGHT_REQUIRE_DNS_SERVERS=1 makes a missing program a failure.
set -euo pipefail
cd "$(dirname "$0")/.."

npm run --silent build

may_install=${CI:-${ZONEWRIGHT_INSTALL_SERVERS:-}}
missing=$(bash scripts/install-dns-servers.sh --missing)
if [ -n "$missing" ] && [ -n "$may_install" ]; then
  echo "Installing programs for the tests (missing: $missing)"
  bash scripts/install-dns-servers.sh || echo "The installation failed." >&2
  missing=$(bash scripts/install-dns-servers.sh --missing)
fi

if [ -z "${ZONEWRIGHT_OCTODNS:-}" ] && ! command -v octodns-sync >/dev/null; then
  octodns=$(bash scripts/install-octodns.sh ${may_install:+--install}) || echo "octoDNS could not be installed." >&2
  if [ -n "$octodns" ]; then export ZONEWRIGHT_OCTODNS=$octodns; else missing="${missing}octodns-sync "; fi
fi

for client in linodego python-clients cloud-clients prometheus hadolint actionlint; do
  program=$(bash scripts/install-foreign-clients.sh "$client" ${may_install:+--install}) || echo "$client could not be installed." >&2
  [ -n "$program" ] || missing="$missing$client "
done

if [ -n "$missing" ]; then
  if [ "${ZONEWRIGHT_REQUIRE_DNS_SERVERS:-}" = 1 ]; then
    echo "ERROR: these programs are required and missing: $missing" >&2
    exit 1
  fi
  cat >&2 <<EOF
!!! Suites that need these programs will be SKIPPED: $missing
!!! To install them and run these suites (Debian, as root): ZONEWRIGHT_INSTALL_SERVERS=1 npm test
EOF
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export ZONEWRIGHT_SKIP_LOG="$work/skipped"
status=0
node_modules/.bin/vitest run --reporter=default --reporter=json --outputFile.json="$work/results.json" "$@" </dev/null || status=$?
node scripts/test-summary.mjs "$work/results.json" "$ZONEWRIGHT_SKIP_LOG" "$status"
exit "$status"
