#!/usr/bin/env bash
# The steps of a pull request and of a merge, for any CI. The workflows in github/ call this script.
#
#   pipeline.sh review BASE          offline: check the project, and write review.md, review.html and review.json
#   pipeline.sh preview BASE STACK   the same for one environment, with the preview of the real engine
#   pipeline.sh deploy STACK         check again, and deploy one environment
#
# Settings, as environment variables:
#   REVIEW_FOLDER             the folder for reviews: an absolute path outside the checkout, empty or missing;
#                             by default a new temporary folder
#   REVIEW_LINK               the address at which the reviews are published; review.md links to it
#   REFUSE_DESTRUCTIVE=true   `review` and `preview` exit with 11 if something would be deleted or replaced
set -euo pipefail

refuse() {
    echo "pipeline.sh: REVIEW_FOLDER $1: use an absolute path outside the checkout, empty or missing" >&2
    exit 2
}

# A branch controls the files in the checkout. It could commit a forged review, or a link to another place. Reviews are
# therefore written to an empty folder outside of the checkout.
prepare_folder() {
    local checkout parent place
    if [ -z "${REVIEW_FOLDER:-}" ]; then
        folder=$(mktemp -d "${RUNNER_TEMP:-${TMPDIR:-/tmp}}/claims-review.XXXXXX")
        return
    fi
    folder="${REVIEW_FOLDER%/}"
    case "$folder" in /*) ;; *) refuse "is not absolute" ;; esac
    checkout=$(cd "$(git rev-parse --show-toplevel)" && pwd -P)
    parent=$(cd "$(dirname "$folder")" && pwd -P) || refuse "has no folder above it"
    for place in "$parent/" "$folder/"; do
        case "$place" in "$checkout"/* | "$PWD"/*) refuse "is inside the checkout" ;; esac
    done
    if [ -L "$folder" ]; then refuse "is a link"; fi
    if [ -e "$folder" ] && [ -n "$(ls -A "$folder")" ]; then refuse "is not empty"; fi
    mkdir -p "$folder"
}

# Write one review in each format. Returns the exit code of the review: 0, 10, 11, or 1 for an error.
write_reviews() {
    local name="$folder/$1"
    shift
    if [ -n "${REVIEW_LINK:-}" ]; then set -- "$@" --link "$REVIEW_LINK"; fi
    claimsmith review "$@" -o "$name.md" -o "$name.html" -o "$name.json"
}

# Changes are expected. Errors fail, and destructive changes fail if REFUSE_DESTRUCTIVE is set.
judge() {
    case "$1" in
    0) echo "nothing changes" ;;
    10) echo "there are changes: see $folder" ;;
    11)
        echo "something would be deleted or replaced: see $folder"
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

# An invalid project is reviewed too: the review reports what is wrong.
review() {
    local code=0 wrong=0
    prepare_folder
    claimsmith validate || wrong=1
    claimsmith generate --check || wrong=1
    write_reviews review --base "$1" || code=$?
    judge "$code" || return
    return "$wrong"
}

preview() {
    local code=0
    prepare_folder
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
    sed -n '2,11s/^# \{0,1\}//p' "$0" >&2
    exit 2
    ;;
esac
