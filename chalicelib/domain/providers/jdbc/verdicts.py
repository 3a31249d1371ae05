"""How what is found about the mappings of a delivery is said: problems as errors, sentences as warnings."""

from collections.abc import Iterable, Iterator, Sequence

from chalicelib.domain.connector_config import ConfigWarning
from chalicelib.domain.names import name_list
from chalicelib.domain.providers.jdbc.sink_config import SINK_CONNECTIONS
from chalicelib.domain.table import Column
from chalicelib.errors import Invalid

Coded = tuple[str, str]
"""A stable code, and a message for people."""
MAX_LISTED = 20
"""Problems in the details of one error."""


def as_errors(problems: Iterable[tuple[int, Coded]]) -> tuple[Invalid, ...]:
    """Problems of mappings, each with the mapping's index, as errors that are ready to be raised: one for each code,
    whose message is that of the first mapping concerned. Its `details` are `{"mappings": [index], "problems":
    [{"mapping": index, "message"}]}`.
    """
    by_code: dict[str, list[tuple[int, str]]] = {}
    for index, (code, message) in problems:
        by_code.setdefault(code, []).append((index, message))
    return tuple(_as_error(code, coded) for code, coded in by_code.items())


def _as_error(code: str, problems: Sequence[tuple[int, str]]) -> Invalid:
    details = {
        "mappings": sorted({index for index, _ in problems}),
        "problems": [{"mapping": index, "message": message} for index, message in problems[:MAX_LISTED]],
    }
    return Invalid(problems[0][1], code=code, details=details)


def grouped(code: str, subject: str, sentences: Iterable[tuple[Column, str | None]]) -> Iterator[ConfigWarning]:
    """One warning for each sentence, naming all of its columns."""
    columns: dict[str, list[str]] = {}
    for column, sentence in sentences:
        if sentence is not None:
            columns.setdefault(sentence, []).append(column.name)
    for sentence, names in columns.items():
        yield ConfigWarning(code=code, message=f"{subject}, {name_list(names)}: {sentence}")


def few_connections(tasks_max: int, limit: str, maximum: int, used: int) -> ConfigWarning | None:
    """What to know when a limit leaves fewer connections than the delivery may open."""
    needed, free = tasks_max * SINK_CONNECTIONS, max(0, maximum - used)
    if free >= needed:
        return None
    message = (
        f"The delivery needs up to {needed} connections, and {limit} leaves {free} of {maximum}. "
        "Raise it, or lower tasks_max."
    )
    return ConfigWarning(code="FEW_CONNECTIONS", message=message)
