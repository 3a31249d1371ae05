"""A route as data, read from the signature of its handler: for the Router, the boundary and the OpenAPI document."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from inspect import Parameter, getdoc, signature
from types import NoneType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

from pydantic import BaseModel

from chalicelib.api.framework.http import HttpRequest, JsonResponse, TextResponse, WithList
from chalicelib.domain.access import Permission, RequestContext
from chalicelib.kit.ids import is_uuid
from chalicelib.kit.pages import Page

_VARIABLE = re.compile(r"{(\w+)}")
_NAME = re.compile(r"[A-Za-z0-9._-]{1,300}\Z")
_CONNECTOR = re.compile("[^\x00-\x1f\x7f-\x9f\ud800-\udfff]{1,2000}\\Z")
_TASK = re.compile(r"(0|[1-9][0-9]{0,8})\Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class PathRule:
    """What a path variable may be, for people `meaning`. Other text makes the address unknown: 404 and not 422."""

    accepts: Callable[[str], object]
    meaning: str
    schema: Mapping[str, Any]
    convert: Callable[[str], Any] = str


NAME_RULE = PathRule(
    accepts=_NAME.match,
    meaning="a name of letters, digits, dots, underscores and dashes",
    schema={"type": "string", "pattern": "^[A-Za-z0-9._-]{1,300}$"},
)
UUID_RULE = PathRule(
    accepts=is_uuid,
    meaning="an id as lists show it: a UUID in lower case with dashes",
    schema={"type": "string", "format": "uuid"},
)
INVITE_RULE = PathRule(accepts=bool, meaning="the token of an invite", schema={"type": "string", "minLength": 1})
CONNECTOR_RULE = PathRule(
    accepts=_CONNECTOR.match,
    meaning="the name of a connector, percent-encoded",
    schema={"type": "string", "minLength": 1, "maxLength": 2000},
)
TASK_RULE = PathRule(
    accepts=_TASK.match, meaning="the number of a task, from 0", schema={"type": "integer", "minimum": 0}, convert=int
)

InvitePath = Annotated[str, INVITE_RULE]
"""The token of an invite. Any text is one that does not exist, so that no answer says how a token is made."""
UuidPath = Annotated[str, UUID_RULE]
"""A path variable that is a UUID, lower case with dashes."""
ConnectorPath = Annotated[str, CONNECTOR_RULE]
"""The name of a connector, percent-encoded: that of others may contain anything but control characters."""
TaskPath = Annotated[int, TASK_RULE]
"""A path variable that is the number of a connector's task."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponseType:
    """What a handler returns: `kind` is model, model with list, page, list, none or text; `sets_headers`: with some of
    its own.
    """

    kind: str
    model: Any = None
    sets_headers: bool = False

    @property
    def may_continue(self) -> bool:
        """Whether there is a cursor when a list does not fit."""
        return self.kind in ("page", "model with list")


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """One method on one path, with everything that its declaration says about it.

    `before_second_factor`: a session that has to set up a second factor may use it. `shows_secret`: the answer
    contains what is shown once. `has_dry_run`: it takes `?dry_run=true`. `context_parameter` and `request_parameter`
    are the names under which the handler takes these, if it does.
    """

    method: str
    path: str
    tag: str
    needs: Permission
    handler: Callable[..., Any]
    response: ResponseType
    status: int = 200
    also: tuple[int, ...] = ()
    location: str | None = None
    hidden: bool = False
    any_query: bool = False
    shows_secret: bool = False
    before_second_factor: bool = False
    has_dry_run: bool = False
    context_parameter: str | None = None
    request_parameter: str | None = None
    body: Any = None
    body_required: bool = True
    query: type[BaseModel] | None = None
    variables: Mapping[str, PathRule] = field(default_factory=dict)

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
    """The fields of a Route that the signature of its handler declares.

    Raises `TypeError` when the boundary has no value for a parameter, or the handler does not take a variable of the
    path: at import, not in use.
    """
    hints = get_type_hints(handler, include_extras=True)
    parameters = signature(handler).parameters.keys()
    variables = {name: _path_rule(hints.get(name)) for name in _VARIABLE.findall(path)}
    if missing := variables.keys() - parameters:
        raise TypeError(f"{handler.__name__}: {path} has {missing}, the handler does not take it")
    fields: dict[str, Any] = {"variables": variables, "response": _response_type(handler, hints)}
    for name in parameters - variables.keys():
        fields |= _parameter(handler, name, hints.get(name))
    return fields


def _path_rule(hint: Any) -> PathRule:
    return next((note for note in get_args(hint) if isinstance(note, PathRule)), NAME_RULE)


def _parameter(handler: Callable[..., Any], name: str, hint: Any) -> dict[str, Any]:
    if hint is RequestContext:
        return {"context_parameter": name}
    if hint is HttpRequest:
        return {"request_parameter": name}
    if name == "query" and isinstance(hint, type) and issubclass(hint, BaseModel):
        return {"query": hint}
    if name == "body":
        return {"body": _without_none(hint), "body_required": _without_none(hint) == hint}
    raise TypeError(f"{handler.__name__}: a request has no value for the parameter {name}")


def _without_none(hint: Any) -> Any:
    if get_origin(hint) in (Union, UnionType) and NoneType in get_args(hint):
        rest = tuple(member for member in get_args(hint) if member is not NoneType)
        return Union[rest]  # noqa: UP007 - the members are known at run time only
    return hint


def _response_type(handler: Callable[..., Any], hints: Mapping[str, Any]) -> ResponseType:
    hint = hints.get("return", Parameter.empty)
    if hint is Parameter.empty:
        raise TypeError(f"{handler.__name__} does not declare its response")
    if get_origin(hint) is JsonResponse:
        [hint] = get_args(hint)
        return replace(_type_of_body(hint), sets_headers=True)
    return _type_of_body(hint)


def _type_of_body(hint: Any) -> ResponseType:
    if hint in (None, NoneType):
        return ResponseType(kind="none")
    if hint is TextResponse:
        return ResponseType(kind="text")
    if get_origin(hint) in (Page, list, WithList):
        [model] = get_args(hint)
        kind = {Page: "page", list: "list", WithList: "model with list"}[get_origin(hint)]
        return ResponseType(kind=kind, model=model)
    return ResponseType(kind="model", model=_without_none(hint))
