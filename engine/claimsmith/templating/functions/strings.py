"""sprig's functions on text. Go counts and cuts text by bytes; a cut through the middle of a character is refused."""

from __future__ import annotations

import unicodedata
from typing import Any, Final

from claimsmith.golang import inputs, strconv
from claimsmith.templating import limits
from claimsmith.templating.functions.builtins import text_of
from claimsmith.templating.functions.registry import Family, deep, slow
from claimsmith.templating.problems import refusal

FAMILY = Family("text")

SPACES: Final = (
    "\t\n\v\f\r \x85\xa0\u1680" + "".join(map(chr, range(0x2000, 0x200B))) + "\u2028\u2029\u202f\u205f\u3000"
)
"""What Go takes for space."""


@FAMILY.add("trim str")
def trim(text: str) -> str:
    """The text without space around it."""
    return text.strip(SPACES)


@FAMILY.add("trimAll str str")
def trim_all(characters: str, text: str) -> str:
    """The text without the characters around it."""
    return text.strip(characters) if characters else text


@FAMILY.add("trimSuffix str str")
def trim_suffix(suffix: str, text: str) -> str:
    """The text without the suffix."""
    return text.removesuffix(suffix)


@FAMILY.add("trimPrefix str str")
def trim_prefix(prefix: str, text: str) -> str:
    """The text without the prefix."""
    return text.removeprefix(prefix)


@FAMILY.add("upper str", cost=slow)
def upper(text: str) -> str:
    """The text in upper case, letter by letter."""
    return "".join(map(inputs.upper, text))


@FAMILY.add("lower str", cost=slow)
def lower(text: str) -> str:
    """The text in lower case, letter by letter."""
    return "".join(char.lower()[0] for char in text)


@FAMILY.add("title str", cost=slow)
def title(text: str) -> str:
    """The text with the first letter of each word in upper case."""
    pairs = zip(" " + text, text, strict=False)
    return "".join(inputs.upper(char) if _separates(before) else char for before, char in pairs)


def _separates(char: str) -> bool:
    if char == "_" or unicodedata.category(char)[0] == "L" or unicodedata.category(char) == "Nd":
        return False
    return char.isascii() or char in SPACES


@FAMILY.add("untitle str", cost=slow)
def untitle(text: str) -> str:
    """The text with the first letter of each word in lower case."""
    pairs = zip(" " + text, text, strict=False)
    return "".join(char.lower()[0] if before in SPACES else char for before, char in pairs)


@FAMILY.add("repeat int str")
def repeat(count: int, text: str) -> str:
    """The text so many times."""
    if count < 0:
        raise refusal(f"cannot repeat a text {count} times", "give a count of 0 or more")
    limits.fits(count * len(text))
    return text * count


@FAMILY.add("substr int int str")
def substr(start: int, end: int, text: str) -> str:
    """The bytes from start to end; an end below 0 or past the text is its end."""
    data = inputs.utf8(text)
    if start < 0:
        start = 0
    elif end < 0 or end > len(data):
        end = len(data)
    if not 0 <= start <= end <= len(data):
        raise refusal(f"cannot take bytes {start} to {end} of {len(data)}", "stay within the text")
    return _cut(data[start:end])


@FAMILY.add("trunc int str")
def trunc(count: int, text: str) -> str:
    """The first so many bytes, or the last where the count is below 0."""
    data = inputs.utf8(text)
    return _cut(data[:count] if count >= 0 else data[max(len(data) + count, 0) :])


def _cut(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise refusal("the cut goes through the middle of a character", "cut elsewhere: bytes are counted") from error


@FAMILY.add("nospace str", cost=slow)
def nospace(text: str) -> str:
    """The text without any space."""
    return "".join(char for char in text if char not in SPACES)


@FAMILY.add("contains str str")
def contains(part: str, text: str) -> bool:
    """Whether the first text is in the second."""
    return part in text


@FAMILY.add("hasPrefix str str")
def has_prefix(prefix: str, text: str) -> bool:
    """Whether the second text starts with the first."""
    return text.startswith(prefix)


@FAMILY.add("hasSuffix str str")
def has_suffix(suffix: str, text: str) -> bool:
    """Whether the second text ends with the first."""
    return text.endswith(suffix)


@FAMILY.add("quote any...", cost=slow)
def quote(*values: Any) -> str:
    """The values, but for null, each in double quotes."""
    return " ".join(strconv.quote(text_of(value)) for value in values if value is not None)


@FAMILY.add("squote any...", cost=slow)
def squote(*values: Any) -> str:
    """The values, but for null, each in single quotes."""
    return " ".join(f"'{text_of(value)}'" for value in values if value is not None)


@FAMILY.add("cat any...", cost=deep)
def cat(*values: Any) -> str:
    """The values, but for null, with spaces between them."""
    return " ".join(text_of(value) for value in values if value is not None)


@FAMILY.add("indent int str")
def indent(spaces: int, text: str) -> str:
    """The text with spaces before each line."""
    if spaces < 0:
        raise refusal(f"cannot indent by {spaces}", "give 0 or more spaces")
    limits.fits(len(text) + spaces * (1 + text.count("\n")))
    pad = " " * spaces
    return type(text)(pad + text.replace("\n", "\n" + pad))


@FAMILY.add("nindent int str")
def nindent(spaces: int, text: str) -> str:
    """The same, on a new line."""
    return type(text)("\n" + indent(spaces, text))


@FAMILY.add("replace str str str")
def replace(old: str, new: str, text: str) -> str:
    """The third text with the second for the first."""
    limits.fits(len(text) + len(new) * (text.count(old) + 1))
    return text.replace(old, new)


@FAMILY.add("plural str str int")
def plural(one: str, many: str, count: int) -> str:
    """The first text where the count is 1, else the second."""
    return one if count == 1 else many


@FAMILY.add("wrap int str")
def wrap(width: int, text: str) -> str:
    """The text broken at spaces into lines of at most so many bytes; longer words stay whole."""
    data, width, offset = inputs.utf8(text), max(width, 1), 0
    lines: list[bytes] = []
    while len(data) - offset > width:
        if data[offset : offset + 1] == b" ":
            offset += 1
            continue
        space = data.rfind(b" ", offset, offset + width + 1)
        space = data.find(b" ", offset + width) if space < 0 else space
        if space < 0:
            break
        lines.append(data[offset:space])
        offset = space + 1
    return b"\n".join([*lines, data[offset:]]).decode()
