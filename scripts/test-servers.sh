#!/usr/bin/env bash
# `npm run test:servers`: the tests with real name servers, PostgreSQL, Chromium, octoDNS, and clients in Python and Go. Arguments select files.
# If CI or ZONEWRIGHT_INSTALL_SERVERS is set (and not 0 or false), missing programs are installed first: the servers as Debian packages (as root), the others into node_modules.
# Otherwise the suites that need them are skipped and listed. ZONEWRIGHT_REQUIRE_DNS_SERVERS=1 makes a missing program a failure.
# ZONEWRIGHT_TEST_TAGS is the filter of tags, which may not be empty; `servers && !long` if it is not set.
set -euo pipefail
cd "$(dirname "$0")/.."
export ZONEWRIGHT_TEST_ROUNDS=${ZONEWRIGHT_TEST_ROUNDS:-0.4}
tags=${ZONEWRIGHT_TEST_TAGS:-servers && !long}

# `.ci/run` has built the program already.
[ -n "${ZONEWRIGHT_TEST_PROGRAM:-}" ] || npm run --silent build
export ZONEWRIGHT_TEST_PROGRAM=$PWD/dist/zonewright.js
# These tests wait for other programs most of the time.
workers=$(($(nproc) > 6 ? $(nproc) : 6))

may_install=
for one in "${CI:-}" "${ZONEWRIGHT_INSTALL_SERVERS:-}"; do
  case ${one,,} in '' | 0 | false) ;; *) may_install=1 ;; esac
done
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

suite=test:servers
clients="linodego python-clients cloud-clients prometheus hadolint actionlint"
if [ -n "${ZONEWRIGHT_TEST_TAGS:-}" ]; then
  suite=test:long
  clients="$clients command-clients external-dns lego act gitlab-ci-local opentofu"
fi
for client in $clients; do
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
!!! To install them and run these suites (Debian, as root): ZONEWRIGHT_INSTALL_SERVERS=1 npm run $suite
EOF
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export ZONEWRIGHT_SKIP_LOG="$work/skipped"
status=0
run() {
  local results=$work/$1.json
  shift
  node_modules/.bin/vitest run --maxWorkers "$workers" --reporter=default --reporter=json --outputFile.json="$results" "$@" </dev/null || status=$?
}

run_postgres() {
  if grep -q postgres <<<"$missing"; then
    echo "the service on PostgreSQL (needs postgres)" >>"$ZONEWRIGHT_SKIP_LOG"
  else
    run postgres --project postgres --tags-filter "$@"
  fi
}

if [ $# -eq 0 ]; then
  mapfile -t files < <({ find test -name '*.servers.test.ts' && grep -rlE '\b(describeWith\w+|faultTests|conformanceTests)\(|tags: .*servers' test --include='*.test.ts'; } | sort -u)
  run servers --project all --tags-filter "$tags" "${files[@]}"
  run_postgres '!long'
else
  for path in "$@"; do [ -e "$path" ] || { echo "There is no $path." >&2; exit 1; }; done
  # A file may belong to one of the projects only.
  run servers --project all --tags-filter "$tags" --passWithNoTests "$@"
  run_postgres "${ZONEWRIGHT_TEST_TAGS:-!long}" --passWithNoTests "$@"
fi
node scripts/test-summary.mjs "$work" "$status"
exit "$status"
