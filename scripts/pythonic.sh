#!/usr/bin/env bash
# Installs function-pythonic, for the tests of it, into .venv/pythonic: it needs Python 3.12 or newer, and pins packages
# that claimsmith has in other versions. PYTHONIC_PYTHON names an interpreter; else one is looked for, on PATH and among
# those of pyenv, and at last uv fetches one. Without any, the tests are skipped, and fail in CI.
set -euo pipefail
cd "$(dirname "$0")/.."

place=.venv/pythonic
stamp=$place/.installed
if [ "$stamp" -nt requirements-pythonic.txt ]; then exit 0; fi

fits() { "$1" -c 'import sys; sys.exit(not (3, 12) <= sys.version_info[:2] <= (3, 14))' > /dev/null 2>&1; }

find_python() {
  local each
  for each in "${PYTHONIC_PYTHON:-}" python3 python3.14 python3.13 python3.12 "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.1[234].*/bin/python; do
    if [ -n "$each" ] && fits "$each"; then
      command -v "$each"
      return
    fi
  done
  # A machine without internet refuses this after a few seconds: it is tried once a day.
  if [ -z "$(find .venv/.no-python-for-pythonic -mtime -1 2> /dev/null)" ]; then
    UV_HTTP_RETRIES=0 .venv/bin/uv python install -q 3.12 > /dev/null 2>&1 && .venv/bin/uv python find -q 3.12 && return
    touch .venv/.no-python-for-pythonic
  fi
  return 1
}

if ! python=$(find_python); then
  echo "there is no Python 3.12 or newer: function-pythonic is not tested (PYTHONIC_PYTHON names an interpreter)" >&2
  exit 0
fi
echo "installing function-pythonic into $place …"
"$python" -m venv --clear "$place"
"$place/bin/python" -m pip install -q --no-deps --require-hashes -r requirements-pythonic.txt
touch "$stamp"
