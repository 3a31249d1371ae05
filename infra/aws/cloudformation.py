"""The intrinsic functions of CloudFormation that the templates use."""

from collections.abc import Mapping
from typing import Any

Json = dict[str, Any]

NO_VALUE: Mapping[str, str] = {"Ref": "AWS::NoValue"}


def sub(text: str) -> Json:
    """Text with `${Name}` for parameters, resources and what AWS knows, such as `${AWS::Region}`."""
    return {"Fn::Sub": text}


def prefixed(name: str) -> Json:
    """A name with the prefix of the installation."""
    return sub("${Prefix}" + name)


def ref(name: str) -> Json:
    return {"Ref": name}


def arn(service: str, resource: str) -> Json:
    """Of a resource in the account and region of the stack."""
    return sub(f"arn:${{AWS::Partition}}:{service}:${{AWS::Region}}:${{AWS::AccountId}}:{resource}")


def exported(name: str) -> Json:
    """The export of the data stack with this name."""
    return {"Fn::ImportValue": prefixed(name)}


def when(condition: str, value: Any, otherwise: Any = NO_VALUE) -> Json:
    return {"Fn::If": [condition, value, otherwise]}


def is_given(parameter: str, *, is_list: bool = False) -> Json:
    """The condition that a parameter is not empty."""
    value = {"Fn::Join": ["", ref(parameter)]} if is_list else ref(parameter)
    return {"Fn::Not": [{"Fn::Equals": [value, ""]}]}


def is_missing(parameter: str) -> Json:
    """The condition that a parameter is empty."""
    return {"Fn::Equals": [ref(parameter), ""]}
