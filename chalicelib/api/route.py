"""A route as data, read from its handler's signature. What the Router mounts, the boundary obeys and OpenAPI tells."""

import re
from collections.abc import Callable, Mapping
from inspect import Parameter, getdoc, signature
from types import NoneType, UnionType
from typing import Annotated, Any, NamedTuple, Union, get_args, get_origin, get_type_hints

from pydantic import BaseModel

from chalicelib.api.http import NOTHING, Answer, HttpRequest, Reply
from chalicelib.domain.access import Permission, RequestContext
from chalicelib.kit.ids import is_uuid
from chalicelib.kit.pages import Page

_VARIABLE = re.compile(r"{(\w+)}")


class PathRule(NamedTuple):
    """What a path variable may be. What it may not be is no address of ours, hence 404 and not 422."""

    accepts: Callable[[str], bool]
    schema: Mapping[str, Any]


_NAME = re.compile(r"[A-Za-z0-9._-]{1,300}\Z")
_TASK = re.compile(r"(0|[1-9][0-9]{0,8})\Z")
NAME_RULE = PathRule(lambda text: bool(_NAME.match(text)), {"type": "string", "pattern": "^[A-Za-z0-9._-]{1,300}$"})
UUID_RULE = PathRule(is_uuid, {"type": "string", "format": "uuid"})
TASK_RULE = PathRule(lambda text: bool(_TASK.match(text)), {"type": "integer", "minimum": 0})

UuidPath = Annotated[str, UUID_RULE]
"""A path variable that is a UUID, lower case with dashes."""
TaskPath = Annotated[int, TASK_RULE]
"""A path variable that is the number of a connector's task."""


class Shape(NamedTuple):
    """What a handler answers: `kind` is model, page, list, none or reply."""

    kind: str
    model: Any = None


class Route(NamedTuple):
    """One method on one path, with everything that its declaration says about it."""

    method: str
    path: str
    tag: str
    needs: Permission
    handler: Callable[..., Any]
    answers: Shape
    status: int = 200
    also: tuple[int, ...] = ()
    location: str | None = None
    hidden: bool = False
    any_query: bool = False
    context: str | None = None
    request: str | None = None
    body: Any = None
    body_required: bool = True
    query: type[BaseModel] | None = None
    variables: Mapping[str, PathRule] = NOTHING
    numbers: frozenset[str] = frozenset()

    @property
    def name(self) -> str:
        """The handler's name: the operation's id in the OpenAPI document."""
        return self.handler.__name__

    @property
    def summary(self) -> str:
        """The first line of the handler's docstring."""
        return self.description.splitlines()[0]

    @property
    def description(self) -> str:
        """The whole docstring."""
        return getdoc(self.handler) or self.name.replace("_", " ")


def read_signature(handler: Callable[..., Any], path: str) -> dict[str, Any]:
    """The fields of a Route that its handler's signature gives.

    Raises `TypeError` when a parameter is none of ours or a variable of the path is not taken: at import, not in use.
    """
    hints = get_type_hints(handler, include_extras=True)
    wanted = set(_VARIABLE.findall(path))
    facts: dict[str, Any] = {"variables": {}, "answers": _shape(handler, hints.get("return", Parameter.empty))}
    for name in signature(handler).parameters:
        facts |= _parameter(handler, name, hints.get(name), wanted, facts)
    if missing := wanted - set(facts["variables"]):
        raise TypeError(f"{handler.__name__}: {path} has {missing}, the handler does not take it")
    return facts


def _parameter(
    handler: Callable[..., Any], name: str, hint: Any, wanted: set[str], facts: dict[str, Any]
) -> dict[str, Any]:
    if name in wanted:
        rule = next((note for note in get_args(hint) if isinstance(note, PathRule)), NAME_RULE)
        number = {name} if rule is TASK_RULE else set()
        return {
            "variables": {**facts["variables"], name: rule},
            "numbers": frozenset(facts.get("numbers", frozenset()) | number),
        }
    if hint is RequestContext:
        return {"context": name}
    if hint is HttpRequest:
        return {"request": name}
    if name == "query" and isinstance(hint, type) and issubclass(hint, BaseModel):
        return {"query": hint}
    if name == "body":
        return {"body": _without_none(hint), "body_required": _without_none(hint) == hint}
    raise TypeError(f"{handler.__name__}: nothing of a request is called {name}")


def _without_none(hint: Any) -> Any:
    if get_origin(hint) in (Union, UnionType) and NoneType in get_args(hint):
        rest = tuple(member for member in get_args(hint) if member is not NoneType)
        return Union[rest]  # noqa: UP007 - the members are known at run time only
    return hint


def _shape(handler: Callable[..., Any], hint: Any) -> Shape:
    if hint is Parameter.empty:
        raise TypeError(f"{handler.__name__} does not say what it answers")
    origin, members = get_origin(hint), get_args(hint)
    if origin is Answer:
        return _shape(handler, members[0])
    if hint in (None, NoneType):
        return Shape(kind="none")
    if hint is Reply:
        return Shape(kind="reply")
    if origin in (Page, list):
        return Shape(kind="page" if origin is Page else "list", model=members[0])
    return Shape(kind="model", model=_without_none(hint))
