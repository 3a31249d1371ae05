"""Resolves values of our templates as CloudFormation does: parameters, conditions, exports and names of resources."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

_VARIABLE = re.compile(r"\$\{([A-Za-z0-9:.]+)\}")
_PSEUDO: Mapping[str, str | None] = {
    "AWS::NoValue": None,
    "AWS::Partition": "aws",
    "AWS::Region": "eu-central-1",
    "AWS::AccountId": "123456789012",
    "AWS::URLSuffix": "amazonaws.com",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Stack:
    """A template with values for its parameters, exports of other stacks, and what `Ref` of a resource gives."""

    template: Mapping[str, Any]
    parameters: Mapping[str, str]
    exports: Mapping[str, str] = field(default_factory=dict)
    resources: Mapping[str, str] = field(default_factory=dict)

    def holds(self, condition: str) -> bool:
        """Whether a condition of the template holds."""
        return self._is_true(self.template["Conditions"][condition])

    def resolved(self, value: Any) -> Any:
        """The value without functions; what is AWS::NoValue is left out. Raises ValueError for an unknown function."""
        if isinstance(value, list):
            return [entry for entry in map(self.resolved, value) if entry is not None]
        if not isinstance(value, dict):
            return value
        for name, given in value.items():
            if name == "Ref" or name.startswith("Fn::"):
                return self._result(name, given)
        entries = {name: self.resolved(entry) for name, entry in value.items()}
        return {name: entry for name, entry in entries.items() if entry is not None}

    def _result(self, function: str, given: Any) -> Any:
        match function, given:
            case "Ref", str(name):
                return self._value_of(name)
            case "Fn::Sub", str(text):
                return _VARIABLE.sub(lambda found: str(self._value_of(found[1])), text)
            case "Fn::ImportValue", name:
                return self.exports[self.resolved(name)]
            case "Fn::If", [str(condition), then, otherwise]:
                return self.resolved(then if self.holds(condition) else otherwise)
            case "Fn::Join", [str(separator), parts]:
                joined = self.resolved(parts)
                return separator.join(joined if isinstance(joined, list) else [joined])
        raise ValueError(f"unknown function of CloudFormation: {function} {given}")

    def _is_true(self, condition: Mapping[str, Any]) -> bool:
        match condition:
            case {"Fn::Equals": [left, right]}:
                return bool(self.resolved(left) == self.resolved(right))
            case {"Fn::Not": [inner]}:
                return not self._is_true(inner)
            case {"Fn::And": parts}:
                return all(map(self._is_true, parts))
            case {"Fn::Or": parts}:
                return any(map(self._is_true, parts))
            case _:
                raise ValueError(f"unknown condition of CloudFormation: {condition}")

    def _value_of(self, name: str) -> str | None:
        if name in _PSEUDO:
            return _PSEUDO[name]
        return self.parameters[name] if name in self.parameters else self.resources[name]


def with_defaults(template: Mapping[str, Any], given: Mapping[str, str]) -> dict[str, str]:
    """The values of all parameters: those that are given, and the defaults of the others."""
    return {name: str(parameter.get("Default", "")) for name, parameter in template["Parameters"].items()} | dict(given)
