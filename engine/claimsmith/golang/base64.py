"""Texts in base64, as Go reads and writes it."""

from __future__ import annotations

import base64
import re
from typing import Any

from claimsmith.base.errors import Problem, TransformError
from claimsmith.golang import fmt, inputs

_BASE64 = re.compile(r"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?")


def encoded(value: Any) -> str:
    """The text in base64."""
    return base64.b64encode(inputs.utf8(fmt.default_text(value))).decode()


def decoded(value: Any) -> str:
    """The text that was in base64."""
    text = fmt.default_text(value).replace("\r", "").replace("\n", "")
    if not _BASE64.fullmatch(text):
        raise TransformError(Problem("string is not valid base64", fix="use the standard alphabet, with padding"))
    try:
        return base64.b64decode(text).decode()
    except UnicodeDecodeError as error:
        raise TransformError(Problem("what was in base64 is not text", fix="keep it encoded")) from error
