#!/usr/bin/env bash
# Tests the package as a user gets it: packs it, installs it into an empty folder, and runs the program there.
set -euo pipefail
cd "$(dirname "$0")/.."

octodns=${ZONEWRIGHT_OCTODNS:-$(bash scripts/install-octodns.sh)}
python=${octodns:+$octodns/}python3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
version=$(node -p 'require("./package.json").version')

npm pack --silent --pack-destination "$work" >/dev/null
mkdir -p "$work/user/zones"
cd "$work/user"
npm init --yes >/dev/null
npm install --silent --no-audit --no-fund --omit=dev "$work/zonewright-$version.tgz" </dev/null

fail() {
  echo "smoke-tarball: $1" >&2
  exit 1
}
zonewright() { node_modules/.bin/zonewright "$@" </dev/null; }

[ "$(npx --no-install zonewright --version)" = "$version" ] || fail "--version is not $version"
zonewright --help >help.txt
grep -q apply help.txt || fail "--help does not name the commands"

printf 'domain: example.com\nsoa_email: hostmaster@example.com\nrecords:\n  www: {type: A, value: 192.0.2.1}\n' >zones/example.com.yaml
zonewright validate zones/example.com.yaml || fail "a valid zone is refused"
printf 'domain: example.net\nrecords:\n  www: {type: A, value: 192.0.2.256}\n' >zones/example.net.yaml
if zonewright validate zones/example.net.yaml >invalid.txt 2>&1; then fail "an invalid zone passes"; fi
grep -q 'example.net.yaml:3:' invalid.txt || fail "the fault has no place: $(cat invalid.txt)"
rm zones/example.net.yaml

# A provider package of an author, from the template in the tarball.
npm pack --silent --pack-destination "$work" ./node_modules/zonewright/templates/provider >/dev/null
npm install --silent --no-audit --no-fund --omit=dev "$work"/zonewright-provider-json-folder-*.tgz </dev/null
printf 'providers:\n  files: {type: npm:json-folder, folder: stored}\n' >zonewright.yaml
zonewright apply --yes --quiet || fail "a provider package does not apply"
zonewright conformance test.example --delete-records --max-size 101 --quiet >suite.txt 2>&1 || fail "the suite fails: $(cat suite.txt)"

# The child process of octoDNS's classes, with octoDNS if it is installed.
printf 'providers:\n  yaml: {type: octodns, class: octodns.provider.yaml.YamlProvider, python: %s, options: {directory: .}}\n' "$python" >zonewright.yaml
zonewright doctor >doctor.txt 2>&1 || true
grep -Eq 'YamlProvider can be used|octoDNS is not installed' doctor.txt || fail "a class of octoDNS does not start: $(cat doctor.txt)"

mkdir demo
(cd demo && PATH="$PATH:$work/user/node_modules/.bin" && timeout 120 zonewright demo </dev/null >demo.txt 2>&1) || fail "demo fails: $(cat demo/demo.txt)"
echo "smoke-tarball: zonewright $version works as installed ($(du -sh node_modules | cut -f1) with its dependencies)"
