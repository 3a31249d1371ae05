"""The permissions that the policies of the functions grant."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from infra.aws.cloudformation import NO_VALUE
from infra.aws.functions import function_named
from infra.aws.policies import policy_document

OPEN_ENDED = (":log-group:/aws/lambda/${Prefix}", ":log-stream:*")
"""The only resource with a wildcard: AWS Lambda makes up the names of a function's log streams."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Permission:
    """One action on one resource, as a policy has it: `dynamodb:GetItem`, `arn:...:table/${Prefix}sources`."""

    action: str
    resource: str


def permissions(document: Mapping[str, Any]) -> Iterator[Permission]:
    """Every permission of a policy document. Raises ValueError for a statement that is no plain permission."""
    for statement in _statements(document["Statement"]):
        if statement["Effect"] != "Allow" or {"NotAction", "NotResource"} & set(statement):
            raise ValueError(f"the statement {statement.get('Sid')} is no plain permission")
        for action in _listed(statement["Action"]):
            for resource in _resources(statement["Resource"]):
                yield Permission(action=action, resource=resource)


@cache
def policy_of(function: str) -> tuple[Permission, ...]:
    return tuple(permissions(policy_document(function_named(function))))


def allows(granted: tuple[Permission, ...], action: str, resource: str) -> bool:
    """Whether the action is allowed on the resource, the end of an ARN (`table/${Prefix}jobs`) or an export's name."""
    return any(
        permission.action == action and f":{permission.resource}".endswith(f":{resource}") for permission in granted
    )


def wildcard_resources(document: Mapping[str, Any]) -> list[str]:
    wide = (permission for permission in permissions(document) if _is_wide(permission))
    return sorted({f"{permission.action} on {permission.resource}" for permission in wide})


def _is_wide(permission: Permission) -> bool:
    before, end = OPEN_ENDED
    resource = permission.resource
    named = resource.removesuffix(end) if before in resource else resource
    return "*" in named or "?" in named or "*" in permission.action


def _statements(value: Iterable[Any]) -> Iterator[Mapping[str, Any]]:
    """Every statement that there can be, for all parameters."""
    for statement in value:
        if "Fn::If" in statement:
            yield from _statements(one for one in statement["Fn::If"][1:] if one != NO_VALUE)
        else:
            yield statement


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _resources(value: Any) -> Iterator[str]:
    """Every resource that the value can be, for all parameters; `${Name}` stands for the value of a parameter."""
    match list(value.items()) if isinstance(value, dict) else value:
        case str(text):
            yield text
        case [("Fn::Sub" | "Fn::ImportValue", inner)]:
            yield from _resources(inner)
        case [("Fn::If", [_, value_if, value_else])]:
            yield from (*_resources(value_if), *_resources(value_else))
        case [("Ref", str(name))]:
            yield f"${{{name}}}"
        case list(entries) if isinstance(value, list):
            yield from (resource for entry in entries for resource in _resources(entry))
        case _:
            raise ValueError(f"{value} is no resource")
