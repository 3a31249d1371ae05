"""What an e-mail address of a user may be, given by a client, by the environment or by an identity provider."""

import re
import string

MAX_CHARACTERS = 254
"""Characters of an address. At most 64 of them are before the @ (after RFC 5321, 4.5.3.1, which counts octets)."""
ADDRESS = re.compile(r"^[^@\s\x00-\x1f\x7f-\x9f]{1,64}@[^@\s\x00-\x1f\x7f-\x9f]{1,253}$")
"""For JSON schemas too. Control characters by name: which of them are white space differs between kinds of patterns."""

_LOWER_CASE = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)


def email_key(email: str) -> str:
    """What two spellings of one address share: only the letters A to Z have two.

    Other characters that look alike, or that Unicode holds to be the same (`\ufb01` and `fi`, the Kelvin sign and `K`),
    are other addresses: a provider may have given them to other people.
    """
    return email.strip().translate(_LOWER_CASE)


def is_email_address(text: str) -> bool:
    """Whether a user can have this address: every character of it shows, and no placeholder of a config is in it."""
    return len(text) <= MAX_CHARACTERS and bool(ADDRESS.fullmatch(text)) and text.isprintable() and "${" not in text
