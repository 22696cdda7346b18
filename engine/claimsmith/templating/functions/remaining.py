"""The rest of sprig's functions that look at nothing outside: composition functions have them, our templates do not."""

from __future__ import annotations

import base64
import hashlib
import math
import posixpath
import re
import zlib
from typing import Any
from urllib.parse import unquote

from claimsmith.golang import inputs, url, verbs
from claimsmith.golang import json as gojson
from claimsmith.templating import limits
from claimsmith.templating.functions import lists
from claimsmith.templating.functions.builtins import text_of, truth
from claimsmith.templating.functions.registry import Family, deep, pairwise
from claimsmith.templating.problems import refusal

FAMILY = Family("remaining")


@FAMILY.add("until int")
def until(end: int) -> list[int]:
    """The numbers from 0 up to, but not including, this one."""
    return until_step(0, end, -1 if end < 0 else 1)


@FAMILY.add("untilStep int int int")
def until_step(start: int, end: int, step: int) -> list[int]:
    """The numbers from the first up to, but not including, the second."""
    numbers = range(start, end, step) if step else range(0)
    limits.fits(8 * len(numbers))
    return list(numbers)


@FAMILY.add("seq int...")
def seq(*bounds: int) -> str:
    """The numbers from the first to the last, as text."""
    match bounds:
        case (last,):
            start, step, end = 1, 1 if last >= 1 else -1, last
        case (start, end):
            step = 1 if end >= start else -1
        case (start, step, end):
            pass
        case _:
            return ""
    numbers = range(start, end + (1 if step > 0 else -1), step) if step else range(0)
    limits.fits(8 * len(numbers))
    return " ".join(map(str, numbers))


@FAMILY.add("tuple any...")
def tuple_(*items: Any) -> list[Any]:
    """A list of the values."""
    return [*items]


@FAMILY.add("push list any")
def push(items: list[Any], item: Any) -> list[Any]:
    """The list with the item after it."""
    return [*items, item]


@FAMILY.add("chunk int list")
def chunk(size: int, items: list[Any]) -> list[list[Any]]:
    """The list in parts of a size."""
    return [items[i : i + size] for i in range(0, len(items), max(size, 1))]


@FAMILY.add("pluck str dict...")
def pluck(key: str, *objects: dict[str, Any]) -> list[Any]:
    """The values at the key, of those that have it."""
    return [o[key] for o in objects if key in o]


@FAMILY.add("all any...")
def all_(*values: Any) -> bool:
    """Whether no value is empty."""
    return all(map(truth, values))


@FAMILY.add("any any...")
def any_(*values: Any) -> bool:
    """Whether a value is not empty."""
    return any(map(truth, values))


@FAMILY.add("deepEqual any any", cost=pairwise)
def deep_equal(first: Any, second: Any) -> bool:
    """Whether the values are equal with all in them."""
    return lists.same(first, second)


@FAMILY.add("typeIs str any")
def type_is(name: str, value: Any) -> bool:
    """Whether the value is of the type in Go."""
    return verbs.type_name(value) == name


@FAMILY.add("typeIsLike str any")
def type_is_like(name: str, value: Any) -> bool:
    """The same; here nothing is a pointer."""
    return type_is(name.removeprefix("*"), value)


@FAMILY.add("trimall str str")
def trimall(characters: str, text: str) -> str:
    """The text without these characters around it."""
    return text.strip(characters)


@FAMILY.add("swapcase str")
def swapcase(text: str) -> str:
    """Capitals as small letters, and the other way round."""
    return text.swapcase()


@FAMILY.add("abbrev int str")
def abbrev(width: int, text: str) -> str:
    """The text, cut with an ellipsis where it is longer."""
    return text if width < 4 or len(text) <= width else f"{text[: width - 3]}..."


@FAMILY.add("splitn str int str")
def splitn(separator: str, count: int, text: str) -> dict[str, str]:
    """At most so many parts of the text, as an object: `_0`, `_1`, …"""
    parts = text.split(separator, max(count - 1, 0)) if separator else [*text]
    return {f"_{index}": part for index, part in enumerate(parts)}


@FAMILY.add("toRawJson any", cost=deep)
def to_raw_json(value: Any) -> str:
    """The value as JSON, without escapes for web pages."""
    text = gojson.dumps(value)
    return text.replace("\\u003c", "<").replace("\\u003e", ">").replace("\\u0026", "&")


@FAMILY.add("sha512sum str")
def sha512sum(text: str) -> str:
    """The SHA-512 of the text, in hexadecimal."""
    return hashlib.sha512(inputs.utf8(text)).hexdigest()


@FAMILY.add("adler32sum str")
def adler32sum(text: str) -> str:
    """The Adler-32 of the text."""
    return str(zlib.adler32(inputs.utf8(text)))


@FAMILY.add("b32enc str")
def b32enc(text: str) -> str:
    """The text in base32."""
    return base64.b32encode(inputs.utf8(text)).decode()


@FAMILY.add("b32dec str")
def b32dec(text: str) -> str:
    """The text that was in base32."""
    try:
        return base64.b32decode(text).decode()
    except ValueError:
        raise refusal("b32dec cannot decode its text", "give it base32") from None


@FAMILY.add("base str")
def base(path: str) -> str:
    """The last part of a path."""
    return posixpath.basename(path.rstrip("/")) or ("/" if path.startswith("/") else ".")


@FAMILY.add("dir str")
def dir_(path: str) -> str:
    """A path without its last part."""
    return posixpath.normpath(posixpath.dirname(path)) if posixpath.dirname(path) else "."


@FAMILY.add("clean str")
def clean(path: str) -> str:
    """The shortest form of a path."""
    return posixpath.normpath(path) if path else "."


@FAMILY.add("ext str")
def ext(path: str) -> str:
    """The extension of a path."""
    name = posixpath.basename(path)
    return name[name.rindex(".") :] if "." in name else ""


@FAMILY.add("isAbs str")
def is_abs(path: str) -> bool:
    """Whether a path starts at the root."""
    return path.startswith("/")


def _float(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        return 0.0


@FAMILY.add("addf any...")
def addf(*values: Any) -> float:
    """The sum."""
    return sum(map(_float, values))


@FAMILY.add("add1f any")
def add1f(value: Any) -> float:
    """The value and one."""
    return _float(value) + 1


@FAMILY.add("subf any any...")
def subf(first: Any, *others: Any) -> float:
    """The first without the others."""
    return _float(first) - sum(map(_float, others))


@FAMILY.add("mulf any any...")
def mulf(first: Any, *others: Any) -> float:
    """The product."""
    product = _float(first)
    for other in others:
        product *= _float(other)
    return product


@FAMILY.add("divf any any...")
def divf(first: Any, *others: Any) -> float:
    """The first divided by the others."""
    quotient = _float(first)
    for other in others:
        if not _float(other):
            raise refusal("divf cannot divide by zero", "give another divisor")
        quotient /= _float(other)
    return quotient


@FAMILY.add("maxf any any...")
def maxf(*values: Any) -> float:
    """The largest."""
    return max(map(_float, values))


@FAMILY.add("minf any any...")
def minf(*values: Any) -> float:
    """The smallest."""
    return min(map(_float, values))


@FAMILY.add("biggest any any...")
def biggest(*values: Any) -> int:
    """The largest, as an integer."""
    largest = maxf(*values)
    if not math.isfinite(largest):
        raise refusal(f"biggest cannot make an integer of {largest}", "give finite numbers")
    return int(largest)


@FAMILY.add("regexQuoteMeta str")
def regex_quote_meta(text: str) -> str:
    """The text as an expression that matches it alone."""
    return re.sub(r"([\\.+*?()|\[\]{}^$])", r"\\\1", text)


@FAMILY.add("wrapWith int str str")
def wrap_with(width: int, separator: str, text: str) -> str:
    """The words of the text with the separator where a line would be too long."""
    lines: list[str] = [""]
    for word in text.split(" "):
        joined = f"{lines[-1]} {word}" if lines[-1] else word
        lines = [*lines[:-1], joined] if len(joined) <= width or not lines[-1] else [*lines, word]
    return text_of(separator).join(lines)


@FAMILY.add("urlParse str")
def url_parse(text: str) -> dict[str, str]:
    """The parts of an absolute URL, or of an absolute path."""
    read = url.parse_request(text)
    return {
        "scheme": read.scheme,
        "host": read.host,
        "hostname": read.hostname,
        "path": unquote(read.path),
        "query": read.query_text,
        "opaque": read.opaque,
        "fragment": unquote(text.partition("#")[2]),
        "userinfo": read.user,
    }
