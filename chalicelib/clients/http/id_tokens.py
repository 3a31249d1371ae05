"""ID tokens of an OpenID provider: checked as OpenID Connect Core 1.0, section 3.1.3.7, asks."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from chalicelib.domain.accounts.sign_on import Refusal, SignOnRefused

if TYPE_CHECKING:
    import jwt

LEEWAY_SECONDS = 60
"""The allowed difference between the clocks of the provider and of Headgate."""
MAX_CHARACTERS = 64 * 1024
MAX_SUBJECT_CHARACTERS = 255
"""ASCII characters (OpenID Connect Core 1.0, section 2)."""
_ALGORITHMS: Mapping[str, tuple[str, ...]] = {
    "RSA": ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"),
    "EC": ("ES256", "ES384", "ES512"),
    "OKP": ("EdDSA",),
}
"""By the type of a key. None of them uses a shared secret, so that a public key is never used as one."""
_ALLOWED = frozenset(name for names in _ALGORITHMS.values() for name in names)
_REQUIRED = ("iss", "sub", "aud", "exp", "iat", "nonce")

Key = Mapping[str, Any]
"""A JSON Web Key, as the provider publishes it."""


class UnknownKey(SignOnRefused):
    """The key of the token is not among the published keys."""

    def __init__(self) -> None:
        super().__init__(Refusal.TOKEN_KEY)


def verify_token(token: str, keys: Sequence[Key], *, issuer: str, client_id: str, nonce: str) -> dict[str, Any]:
    """The claims of a token that this issuer signed for this client and this sign-in. Raises SignOnRefused, UnknownKey.

    `sub` is checked to be ASCII text that is not empty; other claims about the person are not checked.
    """
    import jwt

    if len(token) > MAX_CHARACTERS:
        raise SignOnRefused(Refusal.TOKEN_MALFORMED)
    try:
        key = _key_of(token, keys)
        claims: dict[str, Any] = jwt.decode(
            token,
            key,
            algorithms=[key.algorithm_name],
            issuer=issuer,
            audience=client_id,
            leeway=LEEWAY_SECONDS,
            options={"require": list(_REQUIRED), "enforce_minimum_key_length": True},
        )
    except (jwt.PyJWTError, ValueError, TypeError, RecursionError) as error:
        raise SignOnRefused(_reason(error)) from None
    _check_receiver(claims, client_id)
    if claims["nonce"] != nonce:
        raise SignOnRefused(Refusal.TOKEN_NONCE)
    subject = claims["sub"]
    if not (0 < len(subject) <= MAX_SUBJECT_CHARACTERS and subject.isascii() and subject.isprintable()):
        raise SignOnRefused(Refusal.TOKEN_MALFORMED)
    return claims


def _key_of(token: str, keys: Sequence[Key]) -> "jwt.PyJWK":
    """The published key for the key id and the algorithm in the header of the token."""
    import jwt

    header = jwt.get_unverified_header(token)
    algorithm, key_id = header.get("alg"), header.get("kid")
    if algorithm not in _ALLOWED:
        raise SignOnRefused(Refusal.TOKEN_ALGORITHM)
    matches = [key for key in keys if _is_for(algorithm, key) and key_id in (None, key.get("kid"))]
    if len(matches) != 1:
        raise UnknownKey
    return jwt.PyJWK(dict(matches[0]), algorithm=algorithm)


def _is_for(algorithm: str, key: Key) -> bool:
    return (
        algorithm in _ALGORITHMS.get(str(key.get("kty")), ())
        and key.get("use") in (None, "sig")
        and key.get("alg") in (None, algorithm)
    )


def _check_receiver(claims: Mapping[str, Any], client_id: str) -> None:
    """A token for several receivers has to name this client as the authorized party (`azp`)."""
    several = isinstance(claims["aud"], list) and len(claims["aud"]) > 1
    if claims.get("azp", None if several else client_id) != client_id:
        raise SignOnRefused(Refusal.TOKEN_AUDIENCE)


def _reason(error: Exception) -> Refusal:
    import jwt

    match error:
        case jwt.ExpiredSignatureError() | jwt.ImmatureSignatureError():
            return Refusal.TOKEN_TIME
        case jwt.InvalidIssuerError():
            return Refusal.TOKEN_ISSUER
        case jwt.InvalidAudienceError():
            return Refusal.TOKEN_AUDIENCE
        case jwt.InvalidSignatureError():
            return Refusal.TOKEN_SIGNATURE
        case jwt.InvalidKeyError() | jwt.PyJWKError():
            return Refusal.TOKEN_KEY
        case _:
            return Refusal.TOKEN_MALFORMED
