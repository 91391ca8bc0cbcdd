"""AWS Signature Version 4, as Amazon documents it: HMAC-SHA-256 over a canonical form of a request."""

import hashlib
import hmac
from dataclasses import dataclass, field
from datetime import datetime

ALGORITHM = "AWS4-HMAC-SHA256"


@dataclass(frozen=True, slots=True)
class AwsKeys:
    """The two halves of an access key."""

    access: str
    secret: str = field(repr=False)


def sign_request(
    keys: AwsKeys,
    method: str,
    path: str,
    headers: dict[str, str],
    body: bytes,
    *,
    region: str,
    service: str,
    moment: datetime,
) -> dict[str, str]:
    """Return the headers of a request with its date and signature; a query is not supported.

    Args:
        keys: The access key.
        method: Such as ``POST``.
        path: Of the address.
        headers: That are signed; ``host`` must be among them.
        body: Of the request.
        region: Of the service.
        service: Its name.
        moment: In UTC.

    Returns:
        All headers to send.
    """
    stamp = moment.strftime("%Y%m%dT%H%M%SZ")
    signed = {name.lower(): " ".join(text.split()) for name, text in headers.items()} | {"x-amz-date": stamp}
    names = ";".join(sorted(signed))
    lines = "".join(f"{name}:{signed[name]}\n" for name in sorted(signed))
    canonical = "\n".join([method, path, "", lines, names, hashlib.sha256(body).hexdigest()])
    scope = f"{stamp[:8]}/{region}/{service}/aws4_request"
    text = "\n".join([ALGORITHM, stamp, scope, hashlib.sha256(canonical.encode()).hexdigest()])
    key = f"AWS4{keys.secret}".encode()
    for part in scope.split("/"):
        key = hmac.digest(key, part.encode(), "sha256")
    signature = hmac.digest(key, text.encode(), "sha256").hex()
    proof = f"{ALGORITHM} Credential={keys.access}/{scope}, SignedHeaders={names}, Signature={signature}"
    return signed | {"authorization": proof}
