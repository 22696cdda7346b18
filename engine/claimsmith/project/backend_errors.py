"""Why the engine cannot use a backend, from what it printed, with the way to fix it.

Its own sentences are those of a library of the cloud: they name requests, and neither the cause nor the remedy.
"""

from __future__ import annotations

import re

_KEYS = "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE"
_PLACE = "check its address, and that it runs and can be reached from here"
_CAUSES = (
    (r"NoSuchBucket", "the bucket does not exist", "create it, or correct its name in the address"),
    (r"SignatureDoesNotMatch", "the secret key does not belong to the access key", _KEYS),
    (r"InvalidAccessKeyId|XAdminUserNotFound", "its server does not know the access key", _KEYS),
    (r"get credentials: |Unable to locate credentials", "there are no credentials for it", _KEYS),
    (
        r"AccessDenied",
        "the access key has no permission",
        "permit it to list the bucket, and to read, write and delete its objects",
    ),
    (
        r"AuthorizationHeaderMalformed|PermanentRedirect|Missing Region",
        "the region is missing or wrong",
        "add region=REGION to the address, or set AWS_REGION",
    ),
    (
        r"unknown query parameter \"?\w+\"?",
        "its address has a parameter that the engine does not know",
        "correct it; for a server of your own: s3://BUCKET?endpoint=https://HOST&use_path_style=true&region=REGION",
    ),
    (
        r"server gave HTTP response to HTTPS client",
        "its server does not encrypt connections",
        "if nobody else can listen on the way to it: endpoint=http://HOST",
    ),
    (
        r"lookup \S+?(?= on|:).*?no such host",
        "its server has an unknown name",
        f"{_PLACE}; if the name begins with that of the bucket, add use_path_style=true",
    ),
    (r"connection refused|i/o timeout|no route to host|network is unreachable", "its server does not answer", _PLACE),
    (r"password authentication failed|empty password", "its server refuses the password", "set PGPASSWORD"),
)


def explained(output: str) -> tuple[str, str] | None:
    """The cause and the fix, if this is the error of a backend that cannot be used."""
    for pattern, cause, fix in _CAUSES:
        if found := re.search(pattern, output):
            return f"{cause} ({found[0].strip(': ')})", fix
    return None
