#!/usr/bin/env bash
# The main job, on this machine: a claim becomes a real database on a real PostgreSQL server. Nothing is simulated.
set -euo pipefail
cd "$(dirname "$0")/.."

bold='' plain=''
if [ -t 1 ]; then bold=$'\033[1m' plain=$'\033[0m'; fi
say() { printf '\n%s%s%s\n' "$bold" "$*" "$plain"; }

run() { printf '$ %s\n' "$*"; "$@"; }

claim=stacks/local/claims/orders.yaml
before=$(mktemp)
cp "$claim" "$before"
trap 'cp "$before" "$claim"; rm -f "$before"' EXIT

say "1. Offline: what the application team asks for, and what it becomes"
run cat "$claim"
run claimsmith validate local
run claimsmith render local

say "2. The engine and two providers: found, or installed (a build from source takes some minutes, once)"
claimsmith toolchain --for postgresql > /dev/null 2>&1 || run claimsmith toolchain install --for postgresql
run claimsmith toolchain --for postgresql

say "3. A PostgreSQL server on this machine"
run claimsmith local up --postgresql
eval "$(claimsmith env)"
pulumi stack select local --create 2> /dev/null
server=$(claimsmith local status --output json)
setting() { python -c 'import json, sys; print(json.loads(sys.argv[1])["postgresql"][sys.argv[2]])' "$server" "$1"; }
for name in host port; do run pulumi config set --stack local "postgresql:$name" "$(setting "$name")"; done
run pulumi config set --stack local postgresql:username "$(setting user)"
run pulumi config set --stack local postgresql:sslmode disable
printf '$ pulumi config set --stack local --secret postgresql:password < %s\n' "$(setting passwordFile)"
pulumi config set --stack local --secret postgresql:password < "$(setting passwordFile)"

say "4. pulumi up"
run pulumi up --stack local --yes --continue-on-error --suppress-outputs

say "5. The database is real: a login with the credentials of the claim"
psql=$(python -c 'from claimsmith.lab import postgresql; print(postgresql.psql())')
query="SELECT current_user, datname, datconnlimit FROM pg_database WHERE datname = current_database()"
login() {
  printf '$ psql "$(claimsmith connection local orders --output uri)" -c "%s"\n' "$query"
  PGSSLMODE=disable "$psql" "$(claimsmith connection local orders --output uri)" -c "$query"
}
login

say "6. The application team asks for more connections: the review of that change"
run sed -i.old 's/connections: 20/connections: 50/' "$claim"
rm -f "$claim.old"
if git rev-parse --is-inside-work-tree > /dev/null 2>&1; then
  # Exit code 10: there are changes.
  run claimsmith review --base HEAD --stack local || test $? -eq 10
else
  echo "(no git repository here, so there is nothing to compare with)"
fi

say "7. The second pulumi up changes that, and nothing else"
run pulumi up --stack local --yes --suppress-outputs
login

say "8. What the application team sees"
run claimsmith status local

say "The server is still running, and $claim is as it was. Look around with:"
printf '  eval "$(%s env)" && pulumi preview --stack local --diff\n' .venv/bin/claimsmith
printf 'and stop the server with: make down\n'
