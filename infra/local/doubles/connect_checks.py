"""What Debezium's plug-ins say about a value of their configurations. The texts are those of the real ones."""

import re
from collections.abc import Callable, Mapping

Config = Mapping[str, str]
Check = Callable[[str], str | None]
LOCKING_MODES = ("minimal", "minimal_percona", "custom", "none", "minimal_percona_no_table_locks", "extended")


def is_integer(text: str) -> str | None:
    """The complaint about a value that has to be a whole number, or None."""
    return None if re.fullmatch(r"[+-]?\d{1,10}", text.strip()) else "An integer is expected"


def is_long(text: str) -> str | None:
    """The complaint about a value that has to be a whole number of 64 bits, or None."""
    is_number = re.fullmatch(r"[+-]?\d{1,19}", text.strip()) and -(2**63) <= int(text) < 2**63
    return None if is_number else "A long value is expected"


def is_positive(text: str) -> str | None:
    """The complaint about a whole number that has to be more than 0, or None."""
    wrong = is_long(text) is not None or int(text) <= 0
    return "A positive, non-zero long value is expected" if wrong else None


def is_not_negative(text: str) -> str | None:
    """The complaint about a whole number that may not be less than 0, or None."""
    wrong = is_integer(text) is not None or int(text) < 0
    return "An non-negative integer is expected" if wrong else None


def is_topic_prefix(text: str) -> str | None:
    """The complaint about a prefix with other characters than those of topic names, or None."""
    allowed = "only the underscore, hyphen, dot and alphanumeric characters are allowed"
    return None if re.fullmatch(r"[A-Za-z0-9._-]+", text) else f"{text} has invalid format ({allowed})"


def is_slot_name(text: str) -> str | None:
    """The complaint about a replication slot name that PostgreSQL would refuse, or None."""
    if re.fullmatch(r"[a-z0-9_]{1,63}", text):
        return None
    return (
        "Valid replication slot name must contain only digits, lowercase characters and underscores with length <= 63"
    )


def is_pattern_list(text: str) -> str | None:
    """The complaint about a list of regular expressions, or None."""
    try:
        patterns(text)
    except re.error as problem:
        return f"A comma-separated list of valid regular expressions is expected, but {problem}"
    return None


def one_of(*allowed: str) -> Check:
    """A check that a value is one of the allowed words."""
    return lambda text: None if text.lower() in allowed else f"Value must be one of {', '.join(allowed)}"


def is_locking_mode(text: str) -> str | None:
    """The first of two complaints about a snapshot locking mode of MySQL, or None."""
    return None if text.lower() in LOCKING_MODES else "Must be a valid snapshot.locking.mode value"


def is_time_precision(text: str) -> str | None:
    """The complaint about a precision that MySQL's source does not have any more, or None."""
    return "The 'adaptive' time.precision.mode is no longer supported" if text.lower() == "adaptive" else None


def patterns(text: str) -> list[re.Pattern[str]]:
    """The regular expressions of a Debezium list: separated by commas, ignoring case unless they say otherwise.

    Raises re.error for one that does not compile. Java's ``\\Q…\\E`` quoting is understood.
    """
    pieces = [piece.strip() for piece in re.split(r"(?<!\\),", text) if piece.strip()]
    return [re.compile(_java_quotes(piece.replace("\\,", ",")), re.IGNORECASE) for piece in pieces]


def is_chosen(config: Config, part: str, name: str) -> bool:
    """Whether the include or the exclude list of a part (table, schema, database) lets the whole name through."""
    included, excluded = config.get(f"{part}.include.list"), config.get(f"{part}.exclude.list")
    if included:
        return any(pattern.fullmatch(name) for pattern in patterns(included))
    return not (excluded and any(pattern.fullmatch(name) for pattern in patterns(excluded)))


def _java_quotes(pattern: str) -> str:
    return re.sub(r"\\Q(.*?)(?:\\E|$)", lambda match: re.escape(match.group(1)), pattern, flags=re.DOTALL)
