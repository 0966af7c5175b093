#!/usr/bin/env bash
# Installs the DNS servers, the tools, PostgreSQL and Chromium that the tests run, on Debian and its relatives, as root. Starts none of them.
set -euo pipefail

packages=(openssl bind9 knot nsd pdns-server pdns-backend-sqlite3 ldnsutils knot-dnsutils knot-dnssecutils bind9-dnsutils postgresql curl jq
  zsh fish mandoc)
programs=(named named-checkzone knotd nsd pdns_server pdnsutil dig kdig drill nsupdate nsd-checkzone ldns-read-zone kzonecheck postgres curl jq
  zsh fish mandoc)
# gitlab-ci-local, for `npm run test:long` only, copies with it.
[ -z "${ZONEWRIGHT_TEST_TAGS:-}" ] || { packages+=(rsync) && programs+=(rsync); }
export PATH="$PATH:/usr/sbin:/usr/local/sbin:/sbin"
# Debian has one directory per PostgreSQL version.
for directory in /usr/lib/postgresql/*/bin; do PATH="$PATH:$directory"; done

missing() {
  local program
  for program in "${programs[@]}"; do command -v "$program" >/dev/null || printf '%s ' "$program"; done
  # Any of these does; Debian's shell without a window is the smallest.
  for program in chromium-headless-shell chromium google-chrome; do command -v "$program" >/dev/null && return; done
  printf 'chromium-headless-shell '
}

if [ "${1:-}" = --missing ]; then
  missing
  exit 0
fi
[ -n "$(missing)" ] || exit 0
if ! command -v apt-get >/dev/null; then
  echo "install-dns-servers: this is not Debian (no apt-get); install named, knotd, nsd, pdns_server, dig, kdig, drill and postgres yourself" >&2
  exit 1
fi
if [ "$(id -u)" != 0 ]; then
  echo "install-dns-servers: only root may install packages" >&2
  exit 1
fi

# A package's start script asks this file whether it may start its service. It is removed unless it existed before.
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
  printf '#!/bin/sh\nexit 101\n' >"$policy"
  chmod 755 "$policy"
  trap 'rm -f "$policy"' EXIT
fi
apt-get -qq update >&2
DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends "${packages[@]}" chromium-headless-shell </dev/null >&2
left=$(missing)
if [ -n "$left" ]; then
  echo "install-dns-servers: still missing after the installation: $left" >&2
  exit 1
fi
