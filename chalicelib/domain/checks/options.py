"""Options that only some providers have: a body knows them all, and each provider takes its own."""

from collections.abc import Collection, Iterable

from chalicelib.errors import Invalid, fault


def require_known_options(sent: Iterable[str], known: Collection[str], *location: str) -> None:
    """Raise Invalid for options of other providers, as for unknown fields of the body at this location."""
    foreign = [name for name in sent if name not in known]
    if foreign:
        takes = f"Options of its own are {', '.join(sorted(known))}." if known else "It has no options of its own."
        raise Invalid.of(
            [
                fault(
                    *("body", *location, name),
                    type_="extra_forbidden",
                    message=f"Leave {'.'.join((*location, name))} out: this provider does not have it. {takes}",
                    allowed=sorted(known),
                )
                for name in foreign
            ]
        )
