"""Functions that draw at random in Go, for composition functions: here their values are derived from a seed.

The seed stands for the composite and the place in the template, so a preview and the deployment after it agree. Each
function takes the seed before its own arguments.
"""

from __future__ import annotations

import hashlib
import string
import uuid
from collections.abc import Iterator
from typing import Any

from claimsmith.golang.kinds import Int
from claimsmith.templating import limits
from claimsmith.templating.functions.registry import Family
from claimsmith.templating.problems import refusal

FAMILY = Family("derived")
_PRINTABLE = "".join(map(chr, range(32, 127)))


def _numbers(seed: bytes) -> Iterator[int]:
    """Numbers below 2^64, without end."""
    counter = 0
    while True:
        block = hashlib.sha256(seed + counter.to_bytes(8, "big")).digest()
        yield from (int.from_bytes(block[i : i + 8], "big") for i in range(0, 32, 8))
        counter += 1


def _text(seed: bytes, alphabet: str, length: int) -> str:
    limits.fits(max(length, 0))
    numbers = _numbers(seed)
    return "".join(alphabet[next(numbers) % len(alphabet)] for _ in range(length))


@FAMILY.add("randAlphaNum int")
def rand_alpha_num(seed: bytes, length: int) -> str:
    """Letters and digits."""
    return _text(seed, string.ascii_letters + string.digits, length)


@FAMILY.add("randAlpha int")
def rand_alpha(seed: bytes, length: int) -> str:
    """Letters."""
    return _text(seed, string.ascii_letters, length)


@FAMILY.add("randNumeric int")
def rand_numeric(seed: bytes, length: int) -> str:
    """Digits."""
    return _text(seed, string.digits, length)


@FAMILY.add("randAscii int")
def rand_ascii(seed: bytes, length: int) -> str:
    """Printable characters."""
    return _text(seed, _PRINTABLE, length)


@FAMILY.add("randInt int int")
def rand_int(seed: bytes, least: int, end: int) -> int:
    """A number from the first up to, but not including, the second."""
    if end <= least:
        raise refusal(f"there is no number from {least} below {end}", "give the smaller number first")
    return Int(least + next(_numbers(seed)) % (end - least))


@FAMILY.add("uuidv4")
def uuidv4(seed: bytes) -> str:
    """A UUID."""
    return str(uuid.UUID(bytes=seed[:16], version=4))


@FAMILY.add("shuffle str")
def shuffle(seed: bytes, text: str) -> str:
    """The characters in another order."""
    characters, numbers = [*text], _numbers(seed)
    for index in range(len(characters) - 1, 0, -1):
        other = next(numbers) % (index + 1)
        characters[index], characters[other] = characters[other], characters[index]
    return "".join(characters)


@FAMILY.add("randomChoice str...")
def random_choice(seed: bytes, *choices: str) -> Any:
    """One of the texts."""
    if not choices:
        raise refusal("randomChoice has nothing to choose from", "list the texts")
    return choices[next(_numbers(seed)) % len(choices)]
