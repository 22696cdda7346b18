#!/usr/bin/env bash
# Brings chromium and its driver for the browser tests, where they are missing and apt can be used without a question.
set -euo pipefail
if command -v chromium > /dev/null && command -v chromedriver > /dev/null; then
  exit 0
fi
if ! command -v apt-get > /dev/null; then
  echo "no chromium and no apt: the browser tests are skipped, and fail in CI (set CLAIMSMITH_NO_BROWSER=1 there)" >&2
  exit 0
fi
as_root=()
if [ "$(id -u)" -ne 0 ]; then
  if ! sudo -n true 2> /dev/null; then
    echo "no chromium; to run the browser tests: sudo apt-get install chromium chromium-driver" >&2
    exit 0
  fi
  as_root=(sudo -n)
fi
echo "installing chromium for the browser tests …"
install() {
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium chromium-driver > /dev/null
}
# The package lists of a fresh machine may be old, or not there at all.
install 2> /dev/null || { "${as_root[@]}" apt-get update -qq && install; } ||
  echo "chromium could not be installed: the browser tests are skipped, and fail in CI" >&2
