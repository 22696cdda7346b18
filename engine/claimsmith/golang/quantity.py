"""Kubernetes quantities: `500m`, `1.5Gi`, `2e3`, read to the float that Kubernetes makes of them."""

from __future__ import annotations

import re
from typing import Final

from claimsmith.base.errors import Problem, TransformError
from claimsmith.golang import strconv

_FORM = re.compile(r"([+-]?)([0-9]*)(?:\.([0-9]*))?([eEinumkKMGTP]*[-+]?[0-9]*)")
_DECIMAL: Final = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY: Final = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_NANO = -9
_LARGEST = 2**63 - 1
_MAX_LENGTH = 100
_MAX_EXPONENT = 200
_FAST_DIGITS = 18


def to_float(text: str) -> float:
    """The quantity as a float; amounts finer than a nano are rounded away from zero."""
    form = _FORM.fullmatch(text) if 0 < len(text) <= _MAX_LENGTH else None
    if form is None:
        raise _unreadable(text)
    sign, whole, fraction, suffix = form.groups(default="")
    amount, scale = _amount(text, whole, fraction, suffix)
    if scale > _MAX_EXPONENT:
        raise _unreadable(text)
    # Kubernetes multiplies, which is not always the float nearest to the quantity: 3.3 gives 3.3000000000000003.
    return float(-amount if sign == "-" else amount) * _power_of_ten(scale)


def _amount(text: str, whole: str, fraction: str, suffix: str) -> tuple[int, int]:
    """An integer, and the power of ten to take it by."""
    significant = whole.lstrip("0") or "0"
    digits = int(significant + fraction)
    if suffix in _BINARY:
        bits = _BINARY[suffix]
        shifted = digits << bits
        if not fraction and len(significant) + bits * 3 // 10 <= 14 and shifted in strconv.INT64:
            return shifted, 0
        if not whole + fraction:  # Kubernetes reads "Ki" as 0, but not "Pi"
            raise _unreadable(text)
        nanos = _nanos(shifted, -len(fraction))
        return (_LARGEST, 0) if nanos > _LARGEST * 10**9 else (nanos, _NANO)
    scale = _exponent(text, suffix) - len(fraction)
    if len(significant + fraction) <= _FAST_DIGITS and scale >= _NANO:
        return digits, scale
    return (_nanos(digits, scale), _NANO) if scale <= _MAX_EXPONENT else (digits, scale)


def _exponent(text: str, suffix: str) -> int:
    if suffix in _DECIMAL:
        return _DECIMAL[suffix]
    if re.fullmatch(r"[eE][+-]?[0-9]{1,9}", suffix):
        return int(suffix[1:])
    raise _unreadable(text)


def _nanos(digits: int, scale: int) -> int:
    """How many nanos it is, rounded up."""
    shift = scale - _NANO
    if shift >= 0:
        return digits * int(10**shift)
    divisor = int(10 ** min(-shift, _MAX_LENGTH))
    return -(-digits // divisor)


def _power_of_ten(scale: int) -> float:
    """The power as Go computes it, in steps of 10**32."""
    if scale < 0:
        return float(f"1e{scale}")
    return float(f"1e{scale // 32 * 32}") * float(f"1e{scale % 32}")


def _unreadable(text: str) -> TransformError:
    shown = text if len(text) <= 80 else text[:80] + "…"
    return TransformError(
        Problem(f"cannot read {shown!r} as a quantity", fix="write a number with a suffix such as m, k, M, Ki, Mi, Gi")
    )
