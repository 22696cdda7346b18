"""The rest of sprig's functions that look at nothing outside: composition functions have them, our templates do not."""

from __future__ import annotations

import base64
import hashlib
import math
import operator
import posixpath
import re
import zlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from decimal import ROUND_HALF_UP, Decimal, localcontext
from functools import reduce
from typing import Any
from urllib.parse import unquote

from claimsmith.golang import inputs, url, verbs
from claimsmith.golang import json as gojson
from claimsmith.templating import limits
from claimsmith.templating.functions import lists, numbers
from claimsmith.templating.functions.builtins import truth
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
    counted = range(start, end, step) if step else range(0)
    limits.fits(8 * len(counted))
    return list(counted)


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
    counted = range(start, end + (1 if step > 0 else -1), step) if step else range(0)
    limits.fits(8 * len(counted))
    return " ".join(map(str, counted))


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
    return _shortened(text, 0, width) if width >= 4 else text


@FAMILY.add("abbrevboth int int str")
def abbrevboth(left: int, right: int, text: str) -> str:
    """The text, cut with an ellipsis on both sides where it is longer."""
    return text if right < 4 or (left > 0 and right < 7) else _shortened(text, left, right)


def _shortened(text: str, offset: int, width: int) -> str:
    """A port of AbbreviateFull: bytes are counted."""
    data, kept = inputs.utf8(text), width - 3
    if len(data) <= width:
        return text
    offset = min(offset, len(data))
    offset = len(data) - kept if len(data) - offset < kept else offset
    if offset <= 4:
        return f"{_cut(data[:kept])}..."
    if offset + kept < len(data):
        rest = _cut(data[offset:])
        return f"...{_shortened(rest, 0, kept) if kept >= 4 else ''}"
    return f"...{_cut(data[-kept:])}"


def _cut(data: bytes) -> str:
    """The bytes as text; half a character becomes a question mark."""
    return data.decode(errors="replace")


@FAMILY.add("splitn str int str")
def splitn(separator: str, count: int, text: str) -> dict[str, str]:
    """At most so many parts of the text, as an object: `_0`, `_1`, …"""
    if not separator:
        cut = len(text) if count < 0 else max(count - 1, 0)
        parts = [*text[:cut], *([text[cut:]] if text[cut:] else [])] if count else []
    else:
        parts = text.split(separator, count - 1 if count > 0 else -1) if count else []
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


@FAMILY.add("osBase str")
@FAMILY.add("base str")
def base(path: str) -> str:
    """The last part of a path."""
    return posixpath.basename(path.rstrip("/")) or ("/" if path.startswith("/") else ".")


@FAMILY.add("osDir str")
@FAMILY.add("dir str")
def dir_(path: str) -> str:
    """A path without its last part."""
    return clean(path[: path.rfind("/") + 1])


@FAMILY.add("osClean str")
@FAMILY.add("clean str")
def clean(path: str) -> str:
    """The shortest form of a path."""
    # POSIX lets two slashes at the start mean something else.
    return posixpath.normpath(re.sub("^/+", "/", path)) if path else "."


@FAMILY.add("osExt str")
@FAMILY.add("ext str")
def ext(path: str) -> str:
    """The extension of a path."""
    name = posixpath.basename(path)
    return name[name.rindex(".") :] if "." in name else ""


@FAMILY.add("osIsAbs str")
@FAMILY.add("isAbs str")
def is_abs(path: str) -> bool:
    """Whether a path starts at the root."""
    return path.startswith("/")


def _decimal(value: Any) -> Decimal:
    number = numbers.to_float(value)
    if not math.isfinite(number):
        raise refusal(f"cannot calculate with {number}", "give finite numbers")
    return Decimal(repr(number))


def _calculated(values: Sequence[Any], calculate: Callable[[Decimal, Decimal], Decimal]) -> float:
    """The values put together in decimals, as sprig has it: 0.1 and 0.2 are 0.3."""
    with localcontext(prec=400, Emax=10**6, Emin=-(10**6)):
        return float(reduce(calculate, map(_decimal, values)))


@FAMILY.add("addf any...")
def addf(*values: Any) -> float:
    """The sum."""
    return _calculated((0.0, *values), operator.add)


@FAMILY.add("add1f any")
def add1f(value: Any) -> float:
    """The value and one."""
    return addf(value, 1)


@FAMILY.add("subf any any...")
def subf(*values: Any) -> float:
    """The first without the others."""
    return _calculated(values, operator.sub)


@FAMILY.add("mulf any any...")
def mulf(*values: Any) -> float:
    """The product."""
    return _calculated(values, operator.mul)


@FAMILY.add("divf any any...")
def divf(*values: Any) -> float:
    """The first divided by the others, each quotient rounded to 16 decimal places."""
    return _calculated(values, _quotient)


def _quotient(number: Decimal, divisor: Decimal) -> Decimal:
    if not divisor:
        raise refusal("divf cannot divide by zero", "give another divisor")
    return (number / divisor).quantize(Decimal("1e-16"), rounding=ROUND_HALF_UP)


@FAMILY.add("maxf any any...")
def maxf(*values: Any) -> float:
    """The largest."""
    return max(map(numbers.to_float, values))


@FAMILY.add("minf any any...")
def minf(*values: Any) -> float:
    """The smallest."""
    return min(map(numbers.to_float, values))


FAMILY.functions["biggest"] = replace(numbers.FAMILY.functions["max"], name="biggest")


@FAMILY.add("regexQuoteMeta str")
def regex_quote_meta(text: str) -> str:
    """The text as an expression that matches it alone."""
    return re.sub(r"([\\.+*?()|\[\]{}^$])", r"\\\1", text)


@FAMILY.add("wrapWith int str str")
def wrap_with(width: int, separator: str, text: str) -> str:
    """The words of the text with the separator where a line would be too long."""
    data, width, offset = inputs.utf8(text), max(width, 1), 0
    lines: list[bytes] = []
    while len(data) - offset > width:
        if data[offset : offset + 1] == b" ":
            offset += 1
            continue
        space = data.rfind(b" ", offset, offset + width + 1)
        end = offset + width if space < 0 else space
        lines.append(data[offset:end])
        offset = end + (space >= 0)
    limits.fits(len(data) + len(separator or " ") * len(lines))
    return (separator or "\n").join(map(_cut, [*lines, data[offset:]])) if data else ""


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
