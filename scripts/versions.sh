#!/usr/bin/env bash
# Installs the built wheel into empty environments, with the lowest and with the newest versions of the packages that it
# allows, and runs it there: validate, render, generate, and the unit tests.
#
#   scripts/versions.sh [--quick] [lowest-direct] [highest]     --quick leaves the unit tests out
set -euo pipefail
cd "$(dirname "$0")/.."

quick=
if [ "${1:-}" = --quick ]; then quick=1 && shift; fi
if [ $# -eq 0 ]; then set -- lowest-direct highest; fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bin="${BIN:-$PWD/.venv/bin}"
# Where pip was told of another index than its own, uv uses it too.
if [ -n "${PIP_INDEX_URL:-}" ]; then export UV_DEFAULT_INDEX="${UV_DEFAULT_INDEX:-$PIP_INDEX_URL}"; fi
export UV_NO_PROGRESS=1
# Settings that name the developer's own environment would be followed from the empty ones.
unset PYTHONPATH PYTHONHOME CLAIMSMITH_PYTHON

# Built from a copy of the tracked files, as in a clone: nothing is left in this one.
git ls-files -z --cached --others --exclude-standard | while IFS= read -r -d '' file; do
  if [ -e "$file" ]; then printf '%s\0' "$file"; fi
done > "$work/files"
mkdir "$work/source"
tar -cf - --null -T "$work/files" | tar -xf - -C "$work/source"
"$bin/python" -m pip wheel -q --no-deps --no-build-isolation -w "$work" "$work/source"
wheel=$(echo "$work"/claimsmith-*.whl)

try() {
  local python="$work/$1/bin/python"
  printf '\n== %s\n' "$1"
  "$bin/uv" venv -q --python "$bin/python" "$work/$1"
  # The package's own requirements are the direct ones here; of a wheel they would count as another's.
  "$bin/uv" pip install -q --python "$python" --resolution "$1" --extra lab -r pyproject.toml
  "$bin/uv" pip install -q --python "$python" "claimsmith[lab] @ file://$wheel"
  # The SDKs of the example platform, which claimsmith itself does not need.
  "$bin/uv" pip install -q --python "$python" "pulumi-postgresql>=3.18" "pulumi-random>=4.21"
  "$bin/uv" pip check -q --python "$python"
  "$bin/uv" pip freeze -q --python "$python" | tr '\n' ' '
  echo
  "$work/$1/bin/claimsmith" validate
  "$work/$1/bin/claimsmith" render dev > /dev/null
  "$work/$1/bin/claimsmith" generate --check
  if [ -n "$quick" ]; then return; fi
  "$bin/uv" pip install -q --python "$python" hypothesis import-linter mypy pytest pytest-timeout pytest-xdist selenium types-PyYAML
  "$python" -m pytest -q -n 2 --dist worksteal -p no:cacheprovider -m "not e2e"
}

for resolution in "$@"; do try "$resolution"; done
