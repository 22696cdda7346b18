"""What the engine prints of backends that it cannot use, as it was seen of 3.259, becomes a cause and a fix."""

from __future__ import annotations

import pytest

from claimsmith.project import backend_errors, workspace

GET = 'error: read ".pulumi/meta.yaml": blob (key ".pulumi/meta.yaml") (code=Unknown): operation error S3: GetObject, '
API = GET + "https response error StatusCode: 403, RequestID: N17G, HostID: EVsq, api error "


@pytest.mark.parametrize(
    ("output", "cause", "fix"),
    [
        pytest.param(
            "error: error listing stacks: could not list bucket: blob (code=NotFound): operation error S3: "
            "ListObjectsV2, https response error StatusCode: 404, NoSuchBucket: The specified bucket does not exist.",
            "the bucket does not exist (NoSuchBucket)",
            "create it",
            id="no-bucket",
        ),
        pytest.param(
            f"{API}SignatureDoesNotMatch: The request signature we calculated does not match",
            "the secret key does not belong to the access key (SignatureDoesNotMatch)",
            "AWS_SECRET_ACCESS_KEY",
            id="wrong-secret",
        ),
        pytest.param(
            f"{API}InvalidAccessKeyId: no", "does not know the access key", "AWS_ACCESS_KEY_ID", id="wrong-key"
        ),
        pytest.param(f"{API}AccessDenied: no", "has no permission (AccessDenied)", "permit it", id="no-permission"),
        pytest.param(
            f"{GET}get identity: get credentials: failed to refresh cached credentials, no EC2 IMDS role found",
            "there are no credentials for it (get credentials)",
            "AWS_PROFILE",
            id="no-credentials",
        ),
        pytest.param(
            f'{API}AuthorizationHeaderMalformed: region "x" is wrong',
            "region is",
            "AWS_REGION",
            id="region",
        ),
        pytest.param(
            'error: unable to open bucket "s3://b?regoin=x": open bucket s3://b: unknown query parameter "regoin"',
            'a parameter that the engine does not know (unknown query parameter "regoin")',
            "endpoint=",
            id="parameter",
        ),
        pytest.param(
            f'{GET}request send failed, Get "https://h:1/": http: server gave HTTP response to HTTPS client',
            "does not encrypt connections",
            "endpoint=http://HOST",
            id="not-encrypted",
        ),
        pytest.param(
            f"{GET}request send failed, dial tcp: lookup b.example.org on 10.0.0.53:53: no such host",
            "has an unknown name (lookup b.example.org on 10.0.0.53:53: no such host)",
            "use_path_style=true",
            id="no-such-host",
        ),
        pytest.param(
            f"{GET}request send failed, dial tcp 127.0.0.1:1: connect: connection refused",
            "does not answer (connection refused)",
            "check its address",
            id="unreachable",
        ),
        pytest.param(
            'error: pq: password authentication failed for user "me"',
            "the password",
            "PGPASSWORD",
            id="postgresql",
        ),
    ],
)
def test_a_cause_and_its_fix(output: str, cause: str, fix: str) -> None:
    found = backend_errors.explained(output)
    assert found
    assert cause in found[0]
    assert fix in found[1]
    error = workspace.refused("the stacks cannot be listed", output, fix="something else")
    assert str(error.problems[0]).startswith(f"the stacks cannot be listed: {found[0]}")
    assert workspace.unreadable("dev", output).problems[0].fix == found[1]


def test_other_errors_keep_their_words() -> None:
    assert backend_errors.explained("error: no such thing") is None
    error = workspace.refused("the stacks cannot be listed", "warning: x\nerror: no such thing", fix="log in")
    assert (error.problems[0].what, error.problems[0].fix) == ("the stacks cannot be listed: no such thing", "log in")
