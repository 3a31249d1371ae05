"""ID tokens of an OpenID provider: checked as OpenID Connect Core 1.0, section 3.1.3.7, asks."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from chalicelib.domain.accounts.sign_on import Refusal, SignOnRefused

if TYPE_CHECKING:
    import jwt

LEEWAY_SECONDS = 60
"""How far the clocks of the provider and of Headgate may differ."""
MOST_CHARACTERS = 64 * 1024
MOST_SUBJECT_CHARACTERS = 255
"""Of ASCII (OpenID Connect Core 1.0, section 2)."""
_ALGORITHMS: Mapping[str, tuple[str, ...]] = {
    "RSA": ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"),
    "EC": ("ES256", "ES384", "ES512"),
    "OKP": ("EdDSA",),
}
"""By the kind of a key. None of them uses a shared secret, so a public key is never taken for one."""
_ALLOWED = frozenset(name for names in _ALGORITHMS.values() for name in names)
_REQUIRED = ("iss", "sub", "aud", "exp", "iat", "nonce")

Key = Mapping[str, Any]
"""A JSON Web Key, as the provider publishes it."""


class UnknownKey(SignOnRefused):
    """The token names a key that is not among the given ones."""

    def __init__(self) -> None:
        super().__init__(Refusal.TOKEN_KEY)


def verified_claims(token: str, keys: Sequence[Key], *, issuer: str, client_id: str, nonce: str) -> dict[str, Any]:
    """The claims of a token that this issuer signed for this client and this sign-in. Raises SignOnRefused, UnknownKey.

    `sub` is text of ASCII that is not empty. What the token says about the person is not looked at.
    """
    import jwt

    if len(token) > MOST_CHARACTERS:
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
    if not (0 < len(subject) <= MOST_SUBJECT_CHARACTERS and subject.isascii() and subject.isprintable()):
        raise SignOnRefused(Refusal.TOKEN_MALFORMED)
    return claims


def _key_of(token: str, keys: Sequence[Key]) -> "jwt.PyJWK":
    """The one published key that the token's header names, for the algorithm that it names."""
    import jwt

    header = jwt.get_unverified_header(token)
    algorithm, key_id = header.get("alg"), header.get("kid")
    if algorithm not in _ALLOWED:
        raise SignOnRefused(Refusal.TOKEN_ALGORITHM)
    fitting = [key for key in keys if _fits(key, algorithm) and key_id in (None, key.get("kid"))]
    if len(fitting) != 1:
        raise UnknownKey
    return jwt.PyJWK(dict(fitting[0]), algorithm=algorithm)


def _fits(key: Key, algorithm: str) -> bool:
    return (
        algorithm in _ALGORITHMS.get(str(key.get("kty")), ())
        and key.get("use") in (None, "sig")
        and key.get("alg") in (None, algorithm)
    )


def _check_receiver(claims: Mapping[str, Any], client_id: str) -> None:
    """A token for several receivers has to say that this client is the one that asked for it."""
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
