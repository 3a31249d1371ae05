"""What the policies of `infra/policies` allow."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from infra.local.stack.layout import ROOT

POLICIES = ROOT / "infra" / "policies"

OPEN_ENDED = (":log-group:/aws/lambda/${Prefix}", ":log-stream:*")
"""The one resource that cannot be named whole: AWS Lambda makes up the names of a function's log streams."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Permission:
    """One action on one resource, as it stands in a policy: `dynamodb:GetItem`, `arn:...:table/${Prefix}sources`."""

    action: str
    resource: str


def permissions(document: Mapping[str, Any]) -> Iterator[Permission]:
    """Every permission of a policy document. Raises ValueError for a statement that is no plain permission."""
    for statement in document["Statement"]:
        if statement["Effect"] != "Allow" or {"NotAction", "NotResource"} & set(statement):
            raise ValueError(f"the statement {statement.get('Sid')} is no plain permission")
        for action in _listed(statement["Action"]):
            for resource in _resources(statement["Resource"]):
                yield Permission(action=action, resource=resource)


def policy_of(function: str) -> tuple[Permission, ...]:
    """The permissions of one function, such as `run_job`."""
    return tuple(permissions(json.loads((POLICIES / f"{function}.json").read_text())))


def allows(granted: tuple[Permission, ...], action: str, resource: str) -> bool:
    """Whether the action is allowed on the resource, the end of an ARN (`table/${Prefix}jobs`) or an export's name."""
    return any(one.action == action and f":{one.resource}".endswith(f":{resource}") for one in granted)


def wildcard_resources(document: Mapping[str, Any]) -> list[str]:
    """The permissions of a document that reach further than they name."""
    return sorted({f"{one.action} on {one.resource}" for one in permissions(document) if _wide(one)})


def policy_files() -> list[Path]:
    """Every policy."""
    return sorted(POLICIES.glob("*.json"))


def _wide(one: Permission) -> bool:
    before, end = OPEN_ENDED
    named = one.resource.removesuffix(end) if before in one.resource else one.resource
    return "*" in named or "?" in named or "*" in one.action


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _resources(value: Any) -> Iterator[str]:
    """Every resource that it may be, whatever the parameters are; `${Name}` for what a parameter names."""
    match list(value.items()) if isinstance(value, dict) else value:
        case str(text):
            yield text
        case [("Fn::Sub" | "Fn::ImportValue", inner)]:
            yield from _resources(inner)
        case [("Fn::If", [_, one, other])]:
            yield from (*_resources(one), *_resources(other))
        case [("Ref", str(name))]:
            yield f"${{{name}}}"
        case list(several) if isinstance(value, list):
            yield from (resource for one in several for resource in _resources(one))
        case _:
            raise ValueError(f"{value} is no resource")
