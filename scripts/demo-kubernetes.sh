#!/usr/bin/env bash
# Claims that become Kubernetes objects: offline first, then the real engine on a local control plane.
set -euo pipefail
cd "$(dirname "$0")/.."

bold='' plain=''
if [ -t 1 ]; then bold=$'\033[1m' plain=$'\033[0m'; fi
say() { printf '\n%s%s%s\n' "$bold" "$*" "$plain"; }

run() { printf '$ %s\n' "$*"; "$@"; }

say "1. Offline: what the claim of stacks/dev asks for, and what it would make"
run cat stacks/dev/claims/sql.yaml
run claimsmith validate
run claimsmith bind dev
run claimsmith render dev

say "2. The engine: found, or brought (a build from source takes about 20 minutes, once)"
claimsmith toolchain --for kubernetes > /dev/null 2>&1 || run claimsmith toolchain install --for kubernetes
run claimsmith toolchain --for kubernetes

say "3. A control plane on this machine, with a simulated cloud behind it"
run claimsmith local up

say "4. pulumi up"
eval "$(claimsmith env)"
pulumi stack select dev --create 2> /dev/null
run pulumi up --stack dev --yes --continue-on-error --suppress-outputs

say "5. What the application team sees"
run claimsmith status dev

say "6. A second pulumi up changes nothing"
run pulumi up --stack dev --yes --expect-no-changes --suppress-outputs

say "The control plane is still running. Look around with:"
printf '  kubectl --kubeconfig .claimsmith/local/kubeconfig get managed\n'
printf '  eval "$(%s env)" && pulumi preview --stack dev\n' .venv/bin/claimsmith
printf 'and stop it with: make down\n'
