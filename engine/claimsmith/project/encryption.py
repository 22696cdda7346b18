"""Whether a passphrase fits a stack: its settings hold a salt, and a text that the engine encrypted with both.

The engine only says "incorrect passphrase", and only after it started. Here the same is known before, with the file.
The salt is `v1:SALT:v1:NONCE:TEXT` (Pulumi 3): AES-256-GCM of the text "pulumi" with the key that PBKDF2 derives. One
block of AES in counter mode shows whether it fits; Python has no AES of its own, and nothing is encrypted here.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from claimsmith.base.errors import LoadError, Problem, Source
from claimsmith.project.layout import Layout
from claimsmith.project.load import load
from claimsmith.project.writing import write_atomically

VARIABLE, FILE_VARIABLE = "PULUMI_CONFIG_PASSPHRASE", "PULUMI_CONFIG_PASSPHRASE_FILE"
PASSPHRASE = "passphrase"
SALT = "encryptionsalt"
JOIN, LOCAL = "claimsmith backend join", "claimsmith backend leave"
_KNOWN = b"pulumi"
_ROUNDS = 1_000_000
_FITTING = "fitting"
"""The file that lists what fitted: deriving a key takes half a second."""


@dataclass(frozen=True, slots=True)
class StackSecrets:
    """How the secrets in the settings of a stack are encrypted."""

    stack: str
    file: str
    salt: str
    """Empty where no passphrase encrypts them."""
    provider: str
    """The secrets provider, such as awskms://…; empty for a passphrase."""


def stack_secrets(layout: Layout, only: str | None = None) -> list[StackSecrets]:
    """The stacks that have settings, or one of them, with how their secrets are encrypted."""
    found = []
    for path in sorted((layout.root / "stacks").glob("Pulumi.*.yaml")):
        stack = path.name.removeprefix("Pulumi.").removesuffix(".yaml")
        if only not in (None, stack):
            continue
        data = _settings(path, layout)
        salt, provider = str(data.get(SALT) or ""), str(data.get("secretsprovider") or "")
        shown = path.relative_to(layout.root).as_posix()
        found.append(StackSecrets(stack, shown, salt, "" if provider == "passphrase" else provider))
    return found


def _settings(path: Path, layout: Layout) -> Mapping[str, object]:
    try:
        documents = load([path], root=layout.root)
    except LoadError as error:
        # Settings may be secrets, and what is wrong with YAML is reported by quoting some of it.
        shown = Source(path.relative_to(layout.root).as_posix())
        raise LoadError(Problem("not valid YAML", shown, fix="fix the file, or restore it")) from error
    return documents[0].data if documents else {}


def passphrase_in(layout: Layout, env: Mapping[str, str]) -> str | None:
    """The passphrase that the engine would use here; None where it cannot be read, or does not exist yet."""
    if VARIABLE in env:
        return env[VARIABLE]
    return read_passphrase(Path(env.get(FILE_VARIABLE) or layout.private / PASSPHRASE))


def read_passphrase(path: Path) -> str | None:
    """The passphrase in a file, as the engine reads it; None where there is none."""
    try:
        return path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        return None


def unfit(layout: Layout, env: Mapping[str, str], stack: str | None = None) -> list[Problem]:
    """A problem for each stack, or for one, whose secrets another passphrase encrypts; with both ways out."""
    passphrase = passphrase_in(layout, env)
    kept = layout.private.absolute() / PASSPHRASE
    own = VARIABLE not in env and Path(env.get(FILE_VARIABLE) or kept).absolute() == kept
    salted = [s for s in stack_secrets(layout, stack) if s.salt]
    source = next((name for name in (VARIABLE, FILE_VARIABLE) if not own and name in env), "")
    return [_unfit(s, source) for s in salted if not _fits(layout, passphrase, s.salt, keep=own)]


def _unfit(secrets: StackSecrets, variable: str) -> Problem:
    used = f"of {variable}" if variable else "used here"
    what = f"the passphrase {used} does not fit the stack {secrets.stack!r}: its secrets have another one"
    fix = (f"unset {variable}, or correct it; " if variable else "") + (
        f"for the stack that colleagues deploy, get their passphrase and run: {JOIN}; "
        f"for a stack of your own on this machine, run: {LOCAL}"
    )
    return Problem(what, Source(secrets.file), SALT, fix)


def _fits(layout: Layout, passphrase: str | None, salt: str, *, keep: bool) -> bool:
    """Whether a passphrase fits; what fitted is kept beside the project's own passphrase, and not derived again."""
    if passphrase is None:
        return False
    mark = hashlib.sha256(f"{salt}\0{passphrase}".encode()).hexdigest()
    path = layout.private / _FITTING
    known = path.read_text(encoding="utf-8").split() if keep and path.is_file() else []
    if mark in known:
        return True
    fitting = fits(passphrase, salt)
    if fitting and keep:
        write_atomically(path, "".join(f"{line}\n" for line in [*known, mark]), mode=0o600)
    return fitting


def fits(passphrase: str, salt: str) -> bool:
    """Whether the engine could decrypt secrets of this salt; true as well for a salt in a form that is not known."""
    parts = salt.split(":")
    if len(parts) != 5 or parts[0] != "v1" or parts[2] != "v1":
        return True
    try:
        salted, nonce, text = (base64.b64decode(part, validate=True) for part in (parts[1], parts[3], parts[4]))
    except binascii.Error:
        return True
    key = hashlib.pbkdf2_hmac("sha256", passphrase.encode(), salted, _ROUNDS)
    # GCM encrypts the first block with the counter 2; 1 is for the tag.
    stream = aes_256_block(key, nonce + (2).to_bytes(4, "big")) if len(nonce) == 12 else b""
    return bytes(a ^ b for a, b in zip(text, stream, strict=False))[: len(_KNOWN)] == _KNOWN


def _boxes() -> bytes:
    """The substitution box of AES: inverses in GF(2^8), then an affine map."""
    box, p, q = [0] * 256, 1, 1
    while True:
        p ^= ((p << 1) & 0xFF) ^ (0x1B if p & 0x80 else 0)
        q ^= q << 1
        q ^= q << 2
        q ^= q << 4
        q &= 0xFF
        q ^= 0x09 if q & 0x80 else 0
        turned = q
        for shift in range(1, 5):
            turned ^= ((q << shift) | (q >> (8 - shift))) & 0xFF
        box[p] = turned ^ 0x63
        if p == 1:
            box[0] = 0x63
            return bytes(box)


_BOX = _boxes()


def aes_256_block(key: bytes, block: bytes) -> bytes:
    """One block, encrypted with AES-256 (FIPS 197)."""
    words = [key[i : i + 4] for i in range(0, 32, 4)]
    constant = 1
    for i in range(8, 60):
        last = words[i - 1]
        if i % 8 == 0:
            last = bytes([_BOX[last[1]] ^ constant, _BOX[last[2]], _BOX[last[3]], _BOX[last[0]]])
            constant <<= 1
        elif i % 8 == 4:
            last = bytes(_BOX[b] for b in last)
        words.append(bytes(a ^ b for a, b in zip(words[i - 8], last, strict=True)))
    keys = [b"".join(words[i : i + 4]) for i in range(0, 60, 4)]
    state = _added(block, keys[0])
    for number in range(1, 15):
        state = bytes(_BOX[state[(i + 4 * (i % 4)) % 16]] for i in range(16))
        state = state if number == 14 else _mixed(state)
        state = _added(state, keys[number])
    return state


def _added(state: bytes, key: bytes) -> bytes:
    return bytes(a ^ b for a, b in zip(state, key, strict=True))


def _mixed(state: bytes) -> bytes:
    """The columns, each multiplied by the matrix of AES."""
    out = bytearray()
    for i in range(0, 16, 4):
        column = state[i : i + 4]
        all_of = column[0] ^ column[1] ^ column[2] ^ column[3]
        out += bytes(column[k] ^ all_of ^ _doubled(column[k] ^ column[(k + 1) % 4]) for k in range(4))
    return bytes(out)


def _doubled(byte: int) -> int:
    return ((byte << 1) ^ (0x1B if byte & 0x80 else 0)) & 0xFF
