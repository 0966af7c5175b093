#!/usr/bin/env bash
# install-foreign-clients.sh NAME [--install]: prints the path of a program with clients of the hosting service, which the tests run on the service.
# `linodego`, `lego` and `external-dns` are Go programs with these clients, `python-clients` is a Python with the clients of that language, `command-clients` one with Ansible and linode-cli. `cloud-clients` is a
# Python with clients of cloud services, which the tests run on scripted servers, and moto, which stands in for AWS. `actionlint` checks the workflows of `init`. `hadolint` is a linter of container files. `prometheus` is a Python with the parser of its metrics. With --install it is installed first, into node_modules. Prints nothing if it is not there. Versions and checksums are pinned in go.sum and requirements.txt.
set -euo pipefail
cd "$(dirname "$0")/.."

name=$1
sources=test/service/foreign-clients
case $name in
  linodego | lego | external-dns) inputs=("$sources/$name"/*) tool=go program=$name ;;
  command-clients) inputs=("$sources"/command-clients/requirements.txt) tool=python3 program=bin/python3 ;;
  python-clients) inputs=("$sources"/python/requirements.txt) tool=python3 program=bin/python3 ;;
  cloud-clients) inputs=(test/scripted/clients/requirements.txt) tool=python3 program=bin/python3 ;;
  hadolint) inputs=(test/package/container/requirements.txt) tool=python3 program=bin/hadolint ;;
  prometheus) inputs=(test/report/prometheus/requirements.txt) tool=python3 program=bin/python3 ;;
  actionlint) inputs=(test/ci/actionlint/*) tool=go program=actionlint ;;
  *) echo "unknown client: $name" >&2 && exit 2 ;;
esac
place="$PWD/node_modules/.cache/$name-$(cat "${inputs[@]}" | sha256sum | cut -c1-16)"

if [ ! -e "$place/complete" ]; then
  [ "${2:-}" = --install ] || exit 0
  command -v "$tool" >/dev/null || exit 0
  # An incomplete environment is removed; a virtual environment cannot be moved into place.
  trap 'rm -rf "$place"' EXIT
  rm -rf "$place"
  mkdir -p "$place"
  case $name in
    actionlint) (cd test/ci/actionlint && go build -mod=readonly -buildvcs=false -o "$place/actionlint" github.com/rhysd/actionlint/cmd/actionlint) >&2 ;;
    # external-dns names a newer Go, which the installed one fetches like a module.
    linodego | lego | external-dns) (cd "$sources/$name" && GOTOOLCHAIN=auto go build -mod=readonly -buildvcs=false -o "$place/$name" .) >&2 ;;
    python-clients | command-clients | cloud-clients | prometheus | hadolint)
      python3 -m venv "$place" >&2
      "$place/bin/python3" -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r "${inputs[0]}" >&2
      ;;
  esac
  touch "$place/complete"
  trap - EXIT
fi
echo "$place/$program"
