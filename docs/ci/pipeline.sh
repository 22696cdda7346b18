#!/usr/bin/env bash
# What a pull request and a merge do, for any CI: the workflow beside this file calls the same.
#
#   pipeline.sh review BASE          offline: check the project, and write review.md, review.html and review.json
#   pipeline.sh preview BASE STACK   the same for one environment, with the real engine's preview
#   pipeline.sh deploy STACK         check once more, and deploy one environment
#
# Settings, as environment variables:
#   REVIEW_FOLDER             where the reviews are written; review/ where it is not set
#   REFUSE_DESTRUCTIVE=true   let `review` and `preview` end with 11 where something would be deleted or made anew
set -euo pipefail

folder="${REVIEW_FOLDER:-review}"

# Write one review in each form. Ends with the review's own exit code: 0, 10, 11, or 1 for an error.
write_reviews() {
    local name="$folder/$1"
    shift
    mkdir -p "$folder"
    claimsmith review "$@" -o "$name.md" -o "$name.html" -o "$name.json"
}

# Changes are what a pull request is for; errors are not, and destruction only where it is allowed.
judge() {
    case "$1" in
    0) echo "nothing changes" ;;
    10) echo "there are changes" ;;
    11)
        echo "something would be deleted or made anew: see $folder"
        if [ "${REFUSE_DESTRUCTIVE:-false}" = true ]; then return 11; fi
        ;;
    *) return "$1" ;;
    esac
}

check() {
    claimsmith validate "$@"
    claimsmith generate --check
    local stack
    for stack in "$@"; do claimsmith bind "$stack" --check; done
}

review() {
    local code=0
    claimsmith validate
    claimsmith generate --check
    write_reviews review --base "$1" || code=$?
    judge "$code"
}

preview() {
    local code=0
    write_reviews "preview-$2" --base "$1" --stack "$2" --preview || code=$?
    judge "$code"
}

deploy() {
    check "$1"
    eval "$(claimsmith env)"
    pulumi up --stack "$1" --yes --non-interactive --continue-on-error --suppress-outputs
}

case "${1:-} $#" in
"review 2" | "preview 3" | "deploy 2") "$@" ;;
*)
    sed -n '2,10s/^# \{0,1\}//p' "$0" >&2
    exit 2
    ;;
esac
