"""The only places where a secret may be."""

from tests.support.hostile.leaks import Leak

LEGAL: tuple[tuple[str, str, str], ...] = (
    # secret, channel, start of the location
    ("session token", "response headers", "POST /api/v1/auth/login"),
    ("user session token", "response headers", "POST /api/v1/auth/password"),
    ("sign-on ticket", "response headers", "GET /api/v1/auth/oidc/login"),
    ("session token by sign-on", "response headers", "GET /api/v1/auth/oidc/callback"),
    ("single sign-on secret", "outbound HTTP", "identity provider header authorization"),
    ("authorization code", "outbound HTTP", "identity provider body"),
    ("invite token", "response body", "POST /api/v1/users/invite"),
    ("API token", "response body", "POST /api/v1/auth/tokens"),
    ("source password", "response body", "GET /internal/secrets/"),
    ("destination password", "response body", "GET /internal/secrets/"),
    ("connection password", "response body", "GET /internal/secrets/"),
    ("master key", "state folder", "master-key"),
    ("service credential", "state folder", "service-credential"),
    # This row was written by the scenario itself, so that it cannot be read.
    ("source password", "table", "headgate-sources"),
    ("Connect password", "outbound HTTP", "Connect header authorization"),
    ("Kafka password", "outbound Kafka", "bytes"),
    ("OAuth client secret", "outbound HTTP", "token endpoint "),
    ("chat webhook", "outbound HTTP", "chat url"),
    ("bot token", "outbound HTTP", "bot url"),
    ("webhook path", "outbound HTTP", "webhook url"),
    ("webhook authorization", "outbound HTTP", "webhook header authorization"),
    ("webhook header", "outbound HTTP", "webhook header x-key"),
)
"""Nothing that a user sends to Headgate is recorded. PostgreSQL gets the proof of a password (SCRAM), never the
password; KMS gets data keys that are wrapped.
"""


def illegal(found: list[Leak]) -> list[Leak]:
    return [leak for leak in found if not any(_is(leak, *place) for place in LEGAL)]


def unused(found: list[Leak]) -> list[tuple[str, str, str]]:
    """Places where nothing was found. A search that finds no secret where it has to be proves nothing."""
    return [place for place in LEGAL if not any(_is(leak, *place) for leak in found)]


def _is(leak: Leak, secret: str, channel: str, location: str) -> bool:
    return (leak.secret, leak.channel) == (secret, channel) and leak.location.startswith(location)
