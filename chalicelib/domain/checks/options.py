"""Options that only some providers have: a body knows them all, and each provider takes its own."""

from collections.abc import Container, Iterable

from chalicelib.errors import Invalid


def require_known_options(sent: Iterable[str], known: Container[str], *location: str) -> None:
    """Raise Invalid for options of other providers, as for unknown fields of the body at this location."""
    foreign = [name for name in sent if name not in known]
    if foreign:
        details = [{"location": ["body", *location, name], "type": "extra_forbidden"} for name in foreign]
        raise Invalid("The request is not valid; details name the fields.", details=details)
