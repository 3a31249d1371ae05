"""Definitions: resources in the form in which they are sent (wire contract, section 9)."""

from collections.abc import Callable, Iterable
from enum import StrEnum
from typing import Any, Self, TypeVar

from pydantic import BaseModel, Field, PrivateAttr, RootModel

from chalicelib.api.contract.common import Input

E = TypeVar("E")
T = TypeVar("T")


class View(StrEnum):
    """How a resource is shown, other than with all that is known about it."""

    DEFINITION = "definition"


class ListView(StrEnum):
    """The same for entries of lists of pipelines and deliveries."""

    DEFINITION = "definition"
    ROW = "row"


class Definition(RootModel[dict[str, Any]]):
    """Exactly what POST and PUT take, without secrets: a PUT of it changes nothing.

    A delivery is in the form of its deploy, `POST /destinations/{uuid}/deploy`.
    """

    _version: int = PrivateAttr(default=0)

    @property
    def version(self) -> int:
        """For the ETag."""
        return self._version

    @classmethod
    def of(cls, shown: BaseModel, fields: Iterable[str], **more: Any) -> Self:
        """These fields of what is shown, and `more`, which is plain JSON. What is null is left out: it is the default
        of every field that takes it.
        """
        values = shown.model_dump(mode="json", include=set(fields), exclude_none=True)
        definition = cls({**values, **more})
        definition._version = getattr(shown, "version", 0)
        return definition


class ViewQuery(Input):
    """In which form resources are shown."""

    view: View | None = Field(
        default=None,
        description="`definition`: exactly what POST and PUT take, without secrets. Left out: all that is known.",
    )

    @property
    def wants_definition(self) -> bool:
        return self.view == View.DEFINITION.value

    def rendering(
        self, whole: Callable[[E], T], definition: Callable[[E], Definition]
    ) -> Callable[[E], T | Definition]:
        """Which of two renderings the client wants."""
        return definition if self.wants_definition else whole
