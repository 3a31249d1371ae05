"""Codes of a second factor: those of authenticator apps (TOTP, RFC 6238), and recovery codes.

Codes have six digits and change every 30 seconds, as all common apps do it. One step of the clock is allowed before and
after (RFC 6238, section 5.2).
"""

import re
import secrets
from datetime import datetime, timedelta

from chalicelib.kit.masking import Secret
from chalicelib.secrets.tokens import has_hash, token_hash

ISSUER = "Headgate"
RECOVERY_CODES = 10
STEPS_LATE = 1
CODE_LIFETIME = timedelta(seconds=30) * (2 * STEPS_LATE + 1)
"""No code is taken for longer."""
_ALPHABET = "abcdefghjkmnpqrstuvwxyz23456789"
"""Without characters that look alike when they are written by hand."""
_GROUPS, _GROUP = 4, 5
_APP_CODE = re.compile("[0-9]{6}")


def new_app_secret() -> Secret:
    """The secret that an app shares with us: 160 random bits in base32."""
    import pyotp

    return Secret(pyotp.random_base32())


def app_uri(secret: Secret, email: str) -> Secret:
    """The `otpauth://` address of the secret, which apps read as a QR code."""
    import pyotp

    return Secret(pyotp.TOTP(secret.reveal()).provisioning_uri(name=email, issuer_name=ISSUER))


def is_app_code(code: Secret) -> bool:
    """Whether it has the form of an app's code. Every other text can only be a recovery code."""
    return _APP_CODE.fullmatch(_plain(code)) is not None


def app_code_step(secret: Secret, code: Secret, at: datetime) -> int | None:
    """The number of the step whose code it is, counted from 1970; None for a code of no step around this time."""
    if not is_app_code(code):
        return None  # pyotp also takes digits that only resemble those
    import pyotp
    from pyotp.exceptions import OTPVerificationError

    try:
        return pyotp.TOTP(secret.reveal()).verify_and_get_timecode(_plain(code), for_time=at, valid_window=STEPS_LATE)
    except OTPVerificationError:
        return None


def new_recovery_codes() -> list[Secret]:
    """Ten codes of 99 random bits each, in groups that can be read aloud."""
    return [Secret(_recovery_code()) for _ in range(RECOVERY_CODES)]


def recovery_hash(code: Secret) -> str:
    """The SHA-256 of a recovery code, in hex, however it is spelled."""
    return token_hash(_plain(code))


def used_recovery_hash(code: Secret, hashes: tuple[str, ...]) -> str | None:
    """The one of these hashes that is the code's; None when it is none of them."""
    return next((stored for stored in hashes if has_hash(_plain(code), [stored])), None)


def _recovery_code() -> str:
    groups = ("".join(secrets.choice(_ALPHABET) for _ in range(_GROUP)) for _ in range(_GROUPS))
    return "-".join(groups)


def _plain(code: Secret) -> str:
    """As people copy it: in any case, with blanks and dashes."""
    return re.sub(r"[\s-]", "", code.reveal()).lower()
