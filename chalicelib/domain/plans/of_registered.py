"""What follows from a change or a deletion of what is registered."""

from collections.abc import Iterator, Sequence
from typing import Any, Protocol

from chalicelib.domain.plans.consequences import ConsequenceCode as Code
from chalicelib.domain.plans.consequences import consequence
from chalicelib.domain.plans.plan import Consequence
from chalicelib.domain.registered import Registered
from chalicelib.domain.source import Source
from chalicelib.domain.usage import MAX_NAMED


class Outdated(Protocol):
    """A pipeline or a delivery whose connector would keep its former address or secrets."""

    @property
    def type(self) -> str: ...
    @property
    def id(self) -> str: ...
    @property
    def name(self) -> str: ...


def of_deletion(noun: str, entity: Registered[Any]) -> Iterator[Consequence]:
    """What follows from the deletion of an entity of this type."""
    if entity.credentials.configured and entity.credentials.belong_to(noun, entity.id):
        yield consequence(Code.CREDENTIALS_ARE_DELETED)
    yield consequence(Code.INCIDENTS_END)


def of_update(outdated: Sequence[Outdated] | None) -> Iterator[Consequence]:
    """What follows from a change of an address or of secrets. `outdated` are the pipelines and deliveries whose
    connectors would keep the former ones; None when that cannot be read.
    """
    if outdated:
        shown = outdated[:MAX_NAMED]
        yield consequence(
            Code.CONNECTORS_OUTDATED,
            count=len(outdated),
            names=[one.name for one in shown],
            resources=[{"type": one.type, "id": one.id} for one in shown],
        )


def of_move(before: Source) -> Iterator[Consequence]:
    """What follows when a source gets another host, port or database."""
    if before.tables:
        yield consequence(Code.TABLES_ARE_FORGOTTEN, tables=before.tables)
