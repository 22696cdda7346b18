"""Post the review of a pull request as a comment: the second half of claims-review, with a token that can write.

Everything from the pull request is data of unknown origin:

- GitHub names the request of the run; the artifact does not decide it;
- a branch whose .github/ differs from that of the default branch could write any artifact: then the comment says so,
  and the artifact is not read;
- one file with a fixed name is read from the artifact, up to a size limit; nothing is unpacked or run;
- the comment to update is one of the bot itself with our mark, since others can write the mark too.

Settings, as environment variables: GITHUB_TOKEN, GITHUB_REPOSITORY, GITHUB_SHA (the default branch), RUN_ID,
HEAD_OWNER, HEAD_BRANCH, HEAD_SHA. It needs only Python.
"""

from __future__ import annotations

import io
import json
import os
import sys
import urllib.error
import urllib.parse
import urllib.request
import zipfile
import zlib
from typing import Any

MARK = "<!-- claimsmith review -->"
BOT = "github-actions[bot]"
FILE = "review.md"
LONGEST = 65_536
"""The longest comment that GitHub accepts, in characters."""
LARGEST = 4 * LONGEST
"""The largest file, and the largest artifact, in bytes."""
_UNREADABLE = (zipfile.BadZipFile, zlib.error, EOFError, KeyError, UnicodeDecodeError, RuntimeError)
PAGE, PAGES = 100, 100
CODE = ".github"


class Refused(Exception):
    """Why the review itself is not posted."""


class _Stay(urllib.request.HTTPRedirectHandler):
    """Follows no redirection: the token is only for GitHub's API."""

    def redirect_request(self, *_: Any) -> None:
        return None


def main() -> int:
    """Post, or update, the comment of the run's pull request."""
    number = request_of(setting("HEAD_OWNER"), setting("HEAD_BRANCH"), setting("HEAD_SHA"))
    if number is None:
        print("no open pull request has this commit: nothing to do")
        return 0
    try:
        if code_of(setting("HEAD_SHA")) != code_of(setting("GITHUB_SHA")):
            raise Refused(
                f"`{CODE}/` of this branch is not that of the default branch, so its review could say anything. "
                "Read the change of the workflow first, or merge the default branch."
            )
        text = review_of(setting("RUN_ID"))
    except Refused as refused:
        text = f"{MARK}\n### There is no review\n\n{refused}\n"
    post(number, text)
    return 0


def request_of(owner: str, branch: str, commit: str) -> int | None:
    """The open pull request whose head is this commit."""
    found = call("GET", "pulls", query={"state": "open", "head": f"{owner}:{branch}", "per_page": str(PAGE)})
    return next((int(r["number"]) for r in found if r["head"]["sha"] == commit), None)


def code_of(commit: str) -> str | None:
    """The digest of all workflows and scripts of a commit."""
    tree = call("GET", f"git/commits/{commit}")["tree"]["sha"]
    entries = call("GET", f"git/trees/{tree}")["tree"]
    return next((str(e["sha"]) for e in entries if e["path"] == CODE), None)


def review_of(run: str) -> str:
    """The review in the run's artifact."""
    found = call("GET", f"actions/runs/{int(run)}/artifacts", query={"name": "comment", "per_page": str(PAGE)})
    artifact = next((a for a in found["artifacts"] if a["name"] == "comment" and not a["expired"]), None)
    if artifact is None:
        raise Refused("The run wrote none: see its log.")
    if artifact["size_in_bytes"] > LARGEST:
        raise Refused("It is too large for a comment: see the run's files.")
    return text_in(download(int(artifact["id"])))


def text_in(content: bytes) -> str:
    """The text of the one file in an artifact."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive, archive.open(FILE) as file:
            text = file.read(LARGEST + 1).decode()
    except _UNREADABLE as error:
        raise Refused("It cannot be read: see the run's files.") from error
    if len(text) > LONGEST:
        raise Refused("It is too large for a comment: see the run's files.")
    if not text.startswith(MARK):
        raise Refused("What the run wrote is not a review: see the run's files.")
    return text


def download(artifact: int) -> bytes:
    """An artifact, from the storage that GitHub redirects to; that address gets no token."""
    opener = urllib.request.build_opener(_Stay())
    try:
        with opener.open(asked("GET", f"actions/artifacts/{artifact}/zip")) as answer:
            return bytes(answer.read(LARGEST))
    except urllib.error.HTTPError as error:
        place = error.headers.get("Location", "")
        same = urllib.parse.urlsplit(place).scheme == urllib.parse.urlsplit(api()).scheme
        if error.code not in (301, 302, 303, 307, 308) or not same:
            raise
    with opener.open(place) as answer:
        return bytes(answer.read(LARGEST))


def post(number: int, text: str) -> None:
    """Update the bot's comment, or write it."""
    old = own_comment(number)
    if old is None:
        call("POST", f"issues/{number}/comments", body={"body": text})
    else:
        call("PATCH", f"issues/comments/{old}", body={"body": text})
    print(f"{'updated' if old else 'written'}: the comment of pull request {number}")


def own_comment(number: int) -> int | None:
    """The bot's own comment with our mark; anybody can write the mark."""
    for page in range(1, PAGES + 1):
        query = {"per_page": str(PAGE), "page": str(page)}
        comments = call("GET", f"issues/{number}/comments", query=query)
        for comment in comments:
            author = comment["user"] or {}
            own = author.get("login") == BOT and author.get("type") == "Bot"
            if own and (comment["body"] or "").startswith(MARK):
                return int(comment["id"])
        if len(comments) < PAGE:
            break
    return None


def call(method: str, path: str, *, query: dict[str, str] | None = None, body: Any = None) -> Any:
    """Ask GitHub's API about the repository."""
    with urllib.request.build_opener(_Stay()).open(asked(method, path, query=query, body=body)) as answer:
        return json.load(answer)


def asked(method: str, path: str, *, query: dict[str, str] | None = None, body: Any = None) -> urllib.request.Request:
    """A request to GitHub's API, with our token."""
    address = f"{api()}/repos/{setting('GITHUB_REPOSITORY')}/{urllib.parse.quote(path)}"
    headers = {"Authorization": f"Bearer {setting('GITHUB_TOKEN')}", "Accept": "application/vnd.github+json"}
    return urllib.request.Request(
        f"{address}?{urllib.parse.urlencode(query)}" if query else address,
        data=None if body is None else json.dumps(body).encode(),
        headers={**headers, **({"Content-Type": "application/json"} if body is not None else {})},
        method=method,
    )


def api() -> str:
    """Where GitHub's API is."""
    return os.environ.get("GITHUB_API_URL", "https://api.github.com")


def setting(name: str) -> str:
    """A required setting."""
    value = os.environ.get(name, "")
    if not value:
        sys.exit(f"comment.py: {name} is not set")
    return value


if __name__ == "__main__":
    sys.exit(main())
