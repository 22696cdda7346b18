"""Text of generated code: names in Python's style, and sentences that cannot end the string that holds them."""

from __future__ import annotations

import re
import textwrap

ACRONYMS = {
    "mysql": "MySQL", "postgresql": "PostgreSQL", "sql": "SQL", "gke": "GKE", "eks": "EKS", "aks": "AKS",
    "rds": "RDS", "s3": "S3", "vpc": "VPC", "iam": "IAM", "dns": "DNS", "gcp": "GCP", "aws": "AWS", "ha": "HA",
}  # fmt: skip
_SPOKEN_WITH_A_VOWEL = frozenset("AEFHILMNORSX")
_LIKE_YOU = ("uni", "use", "usa", "uti", "ure", "uro")


def article(kind: str) -> str:
    """The kind with its article: a MySQLInstance, an XPostgres."""
    spelled = kind[:1].isupper() and not kind[1:2].islower()
    vowel = kind[:1].upper() in _SPOKEN_WITH_A_VOWEL if spelled else kind[:1].lower() in "aeiou"
    vowel = vowel and not (not spelled and kind.lower().startswith(_LIKE_YOU))
    return f"{'an' if vowel else 'a'} {kind}"


def sentence(words: str) -> str:
    """The words with a capital letter in front."""
    return words[:1].upper() + words[1:]


def pascal(name: str) -> str:
    """A name as a class's: private-mysql-server gives PrivateMySQLServer, storageGB gives StorageGB."""
    words = [w for w in re.split(r"[^A-Za-z0-9]+", name) if w]
    return "".join(ACRONYMS.get(w, w[:1].upper() + w[1:]) for w in words)


def constant(value: str) -> str:
    """A text as the name of a constant: t3.small gives T3_SMALL."""
    name = re.sub(r"[^A-Za-z0-9]+", "_", value).strip("_").upper() or "EMPTY"
    return f"V{name}" if name[0].isdigit() else name


def one_line(words: str) -> str:
    """The text in one line, without characters that cannot be seen: nothing in it can end a comment."""
    return "".join(c for c in " ".join(words.split()) if c.isprintable())


def docstring(words: str) -> str:
    """The text as the inside of a docstring, with a full stop; nothing in it can end the string."""
    safe = one_line(words).rstrip(".").replace("\\", "\\\\").replace('"', "'")
    return "\n".join(textwrap.wrap(f"{safe}.", width=100)) if safe else ""
