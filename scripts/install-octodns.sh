#!/usr/bin/env bash
# Prints the folder of octoDNS's programs, which the tests run on exported files. With --install octoDNS is installed first, into a virtual
# environment within node_modules. Prints nothing if octoDNS is not there; the reason is on standard error.
set -euo pipefail
cd "$(dirname "$0")/.."

packages=(octodns==1.22.0 octodns-bind==1.1.0 octodns-powerdns==1.2.0)
place="$PWD/node_modules/.cache/octodns-1.22.0-1.1.0-1.2.0"
if [ ! -e "$place/complete" ]; then
  [ "${1:-}" = --install ] || exit 0
  command -v python3 >/dev/null || exit 0
  # An incomplete environment is removed; a virtual environment cannot be moved into place.
  trap 'rm -rf "$place"' EXIT
  rm -rf "$place"
  python3 -m venv "$place" >&2
  "$place/bin/python3" -m pip install --quiet --disable-pip-version-check "${packages[@]}" >&2
  "$place/bin/octodns-sync" --help >/dev/null
  touch "$place/complete"
  trap - EXIT
fi
echo "$place/bin"
