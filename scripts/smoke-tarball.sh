#!/usr/bin/env bash
# Tests a release as a user gets it: makes one, installs the tarball into an empty folder and runs the program there, and runs the single executable.
set -euo pipefail
cd "$(dirname "$0")/.."

octodns=${ZONEWRIGHT_OCTODNS:-$(bash scripts/install-octodns.sh)}
python=${octodns:+$octodns/}python3
work=$(mktemp -d)
service=
trap '[ -z "$service" ] || kill "$service" || true; rm -rf "$work"' EXIT
version=$(node -p 'require("./package.json").version')

node scripts/release.mjs --allow-dirty --executable --out "$work/release" >"$work/release.txt" 2>&1 || { cat "$work/release.txt" >&2; exit 1; }
(cd "$work/release" && sha256sum --check --quiet SHA256SUMS)
mkdir -p "$work/user/zones"
cd "$work/user"
# The machine of a user is no job of CI, which limits what a config can start.
unset CI
npm init --yes >/dev/null
npm install --engine-strict --silent --no-audit --no-fund --omit=dev "$work/release/zonewright-$version.tgz" </dev/null

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

# A program, whose sandbox is a file of the package.
mkdir programs
printf "import { A, zone } from 'zonewright/definition'\\nconst name: string = 'www'\\nzone('example.net', { soa_email: 'hostmaster@example.com' }, [A(name, '192.0.2.1')])\\n" >programs/example.ts
zonewright validate programs/example.ts || fail "a program does not run"
[ -e node_modules/zonewright/dist/types/definition.d.ts ] || fail "the types of programs are missing"

# The library, as ESM.
printf 'providers:\n  cloud: {type: cloud, preset: linode, token: env:LINODE_TOKEN}\n' >zonewright.yaml
cat >library.mjs <<'END'
import { plan } from 'zonewright'
import { inMemoryProvider } from 'zonewright/testing'

const { result, plan: document } = await plan({ zones: ['example.com'], journal: 'journal', providers: { cloud: inMemoryProvider({ type: 'cloud' }) } })
console.log(result, document.format, document.summary.create)
END
[ "$(node library.mjs)" = 'pending zonewright-plan 2' ] || fail "the library does not plan: $(node library.mjs 2>&1)"
[ "$(node -p 'typeof require("zonewright").apply + typeof require("zonewright/testing").conformance')" = functionfunction ] || fail "the library cannot be required"
[ -e node_modules/zonewright/dist/types/library/testing.d.ts ] || fail "the types of the library are missing"

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

# The unpacked tarball without any package, as CI jobs use it.
mkdir "$work/bare"
tar -xzf "$work/release/zonewright-$version.tgz" -C "$work/bare"
"$work/bare/package/dist/zonewright.js" validate programs/example.ts || fail "the unpacked tarball does not run a program"
"$work/bare/package/dist/zonewright.js" validate zones || fail "the unpacked tarball does not run without packages"

# The single executable, with nothing beside it and no Node.js in its path.
mkdir "$work/alone"
cp "$work/release/zonewright-$version-$(node -p 'process.platform + "-" + process.arch')" "$work/alone/zonewright"
executable() { env -i PATH=/usr/bin/none HOME="$work" ZONEWRIGHT_PACKAGES_DIR="$work/user" ZONEWRIGHT_TOKEN="$token" "$work/alone/zonewright" "$@" </dev/null; }
refuses() {
  local expected=$1
  shift
  if executable "$@" >refused.txt 2>&1; then fail "the executable runs $*"; fi
  grep -q "$expected" refused.txt || fail "the executable: $*: $(cat refused.txt)"
}
token=$(node -p 'crypto.randomBytes(32).toString("hex")')
[ "$(executable --version)" = "$version" ] || fail "--version of the executable is not $version"
executable validate zones || fail "the executable refuses a valid zone"
executable validate programs/example.ts || fail "the executable does not run a program"
executable explain plan-stale >explained.txt
grep -q '^plan-stale$' explained.txt || fail "the executable cannot explain a diagnostic"
for command in serve demo 'backup file' 'restore file'; do
  # shellcheck disable=SC2086
  refuses 'needs packages that this installation of Zonewright lacks' $command
done

# A plan and an apply against a running service.
ports=$(node -e 'const net = require("node:net"), a = net.createServer().listen(0, "127.0.0.1", () => { const b = net.createServer().listen(0, "127.0.0.1", () => { console.log(a.address().port, b.address().port); a.close(); b.close() }) })')
read -r http dns <<<"$ports"
ZONEWRIGHT_BOOTSTRAP_TOKEN=$token timeout 120 node_modules/.bin/zonewright serve --log-level warn --listen "127.0.0.1:$http" \
  --dns "127.0.0.1:$dns" --data "$work/data" </dev/null >serve.txt 2>&1 &
service=$!
printf 'providers:\n  cloud: {type: cloud, base_url: "http://127.0.0.1:%s/v4", token: "env:ZONEWRIGHT_TOKEN"}\nzones:\n  - {files: "zones/*", targets: [cloud]}\nnameservers: ["127.0.0.1:%s"]\n' "$http" "$dns" >zonewright.yaml
for _ in $(seq 100); do (exec 3<>"/dev/tcp/127.0.0.1/$http") 2>/dev/null && break || sleep 0.1; done
status=0
executable plan --detailed-exitcode >plan.txt 2>&1 || status=$?
[ "$status" = 2 ] || fail "the plan of the executable has status $status: $(cat plan.txt)"
executable apply --yes --quiet || fail "the executable does not apply"
executable plan --detailed-exitcode --quiet >plan.txt 2>&1 || fail "the executable plans changes after an apply: $(cat plan.txt)"
executable verify --quiet || fail "the executable does not verify"
kill "$service"
wait "$service" || true
service=

# Code that the executable loads at run time: a provider package, the child process of octoDNS, a package beside it.
printf 'providers:\n  files: {type: npm:json-folder, folder: stored-by-executable}\n' >zonewright.yaml
executable apply --yes --quiet || fail "a provider package does not apply with the executable"
[ -e stored-by-executable/example.com.json ] || fail "the provider package of the executable stored nothing"
printf 'providers:\n  yaml: {type: octodns, class: octodns.provider.yaml.YamlProvider, python: %s, options: {directory: .}}\n' "$(command -v "$python")" >zonewright.yaml
echo 'raise SystemExit("a module of the working directory was loaded")' >json.py
executable doctor >doctor.txt 2>&1 || true
rm json.py
grep -Eq 'YamlProvider can be used|octoDNS is not installed' doctor.txt || fail "a class of octoDNS does not start with the executable: $(cat doctor.txt)"
printf 'providers:\n  aws: {type: route53, access_key_id: x, secret_access_key: y}\n' >zonewright.yaml
refuses 'the package @aws-sdk/client-route-53 is not installed' plan

echo "smoke-tarball: zonewright $version works as installed ($(du -sh node_modules | cut -f1) with its dependencies) and as one executable ($(du -h "$work/alone/zonewright" | cut -f1))"
