#!/usr/bin/env bash
# Installs octoDNS, a judge of what is exported for it, in a virtual environment within node_modules, and prints the folder of its
# programs. Prints nothing where there is no Python 3 or no package index; what went wrong is on standard error.
set -euo pipefail
cd "$(dirname "$0")/.."

packages=(octodns==1.22.0 octodns-bind==1.1.0)
place="$PWD/node_modules/.cache/octodns-1.22.0-1.1.0"
if [ ! -e "$place/complete" ]; then
  command -v python3 >/dev/null || exit 0
  # One that was broken off is never taken for a whole one; a virtual environment cannot be moved, so that it is removed.
  trap 'rm -rf "$place"' EXIT
  rm -rf "$place"
  python3 -m venv "$place" >&2
  "$place/bin/python3" -m pip install --quiet --disable-pip-version-check "${packages[@]}" >&2
  "$place/bin/octodns-sync" --help >/dev/null
  touch "$place/complete"
  trap - EXIT
fi
echo "$place/bin"
