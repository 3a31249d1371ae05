"""Checks the template of the stack: every route, every function with its own role, and no secret."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from chalice.app import SQSEventConfig

import app as deployed
from chalicelib.settings import Settings, settings
from infra.aws.functions import FUNCTIONS, QUEUE_FUNCTIONS
from infra.aws.permissions import wildcard_resources
from infra.aws.policies import NETWORK_POLICY

Json = Mapping[str, Any]

API_RESOURCES = 300
"""Of one REST API (API Gateway quotas)."""

TEMPLATE_BYTES = 1_000_000
"""Of a template that is uploaded to S3 (CloudFormation quotas)."""

DATA_TEMPLATE_BYTES = 51_200
"""Of a template that is passed in a request, which takes no bucket (CloudFormation quotas)."""

_VARIABLE = re.compile(r"\$\{([A-Za-z0-9:.]+)\}")
_SECRET_NAME = re.compile("password|secret|credential|token|master", re.IGNORECASE)
_REFERENCE = re.compile("(SecretArn|_SECRET_ARN)$")
"""A parameter or variable that names a secret and does not hold it."""
_NO_SECRETS = (
    *("AllowInlineSecrets", "HEADGATE_ALLOW_INLINE_SECRETS"),
    *("PasswordLogin", "HEADGATE_PASSWORD_LOGIN"),
    "SecretsVpcEndpointId",
)
"""Permissions and names of resources, in spite of their names."""

NOT_DEPLOYED: Mapping[str, str] = {
    "HEADGATE_MASTER_KEY": "AWS KMS seals the secrets",
    "HEADGATE_ALLOW_LOOPBACK_TARGETS": "nothing but the function itself is on its loopback addresses",
}
"""Settings that the template does not give to any function, and why."""

OUTSIDE = "DeliverNotifications"
"""It calls addresses that users write, so it is in no VPC: from there nothing private can be reached."""


def template_faults(template: Json) -> list[str]:
    resources = template["Resources"]
    return [
        *_size_faults(template),
        *_reference_faults(template),
        *_route_faults(resources),
        *_function_faults(resources),
        *_queue_faults(resources),
        *_role_faults(resources),
        *_secret_faults(template),
        *_setting_faults(template),
        *_network_faults(template),
        *_log_faults(resources),
    ]


def data_faults(text: str) -> list[str]:
    size = len(text.encode())
    too_large = f"the data template has {size} bytes, and CloudFormation takes {DATA_TEMPLATE_BYTES} without a bucket"
    return [too_large] if size > DATA_TEMPLATE_BYTES else []


def routes_of(app: Any) -> set[tuple[str, str]]:
    """Method and path of everything that is mounted, the fallback included."""
    return {(method, path) for path, methods in app.routes.items() for method in methods}


def _size_faults(template: Json) -> Iterator[str]:
    if (size := len(json.dumps(template))) >= TEMPLATE_BYTES:
        yield f"the template has {size} bytes, and CloudFormation takes fewer than {TEMPLATE_BYTES}"


def _route_faults(resources: Json) -> Iterator[str]:
    paths = resources["RestAPI"]["Properties"]["DefinitionBody"]["paths"]
    routed = {(method.upper(), path) for path, methods in paths.items() for method in methods}
    mounted = {(route.method, path) for path, route in deployed.lazy_routes}
    if lacking := sorted((routes_of(deployed.app) | mounted) - routed):
        yield f"routes missing from the API: {lacking}"
    if surplus := sorted(routed - routes_of(deployed.app)):
        yield f"routes of the API that the app does not have: {surplus}"
    if (count := len({prefix for path in paths for prefix in _prefixes(path)})) > API_RESOURCES:
        yield f"the API has {count} resources, and API Gateway takes {API_RESOURCES}"


def _prefixes(path: str) -> Iterator[str]:
    parts = path.strip("/").split("/")
    return ("/".join(parts[: end + 1]) for end in range(len(parts)))


def _function_faults(resources: Json) -> Iterator[str]:
    functions = _of_type(resources, "AWS::Serverless::Function")
    expected = {function.resource: function for function in FUNCTIONS}
    if set(functions) != set(expected):
        yield f"the functions are {sorted(functions)}, and those of infra.aws.functions {sorted(expected)}"
    for name in sorted(name for name, resource in resources.items() if "Type" not in resource):
        yield f"{name} is of no type: the code has no such function"
    for name, function in expected.items():
        properties = functions.get(name, {}).get("Properties", {})
        if (properties.get("Handler"), properties.get("Timeout")) != (function.handler, function.seconds):
            yield f"{name} is not {function.handler} with {function.seconds} s"
        if "FunctionName" not in properties:
            yield f"{name} has no name, so its policy cannot name its log"


def _queue_faults(resources: Json) -> Iterator[str]:
    listening = {
        source.name: source.queue for source in deployed.app.event_sources if isinstance(source, SQSEventConfig)
    }
    for function, queue in QUEUE_FUNCTIONS:
        if listening.get(function.name) != settings().queue_prefix + queue.name:
            yield f"the code of {function.name} does not listen to {queue.name}"
        sources = resources.get(function.resource, {}).get("Properties", {}).get("Events", {})
        named = [event["Properties"]["Queue"] for event in sources.values() if event["Type"] == "SQS"]
        # Chalice names the queue by Fn::Sub, and the merge would leave another function beside it.
        if [set(queue) for queue in named] != [{"Fn::Sub"}]:
            yield f"{function.resource} does not take its messages from one queue: {named}"


def _role_faults(resources: Json) -> Iterator[str]:
    roles = {
        name: resource["Properties"]["Role"]["Fn::GetAtt"][0]
        for name, resource in _of_type(resources, "AWS::Serverless::Function").items()
    }
    if len(set(roles.values())) != len(roles):
        yield f"functions share a role: {roles}"
    for role in sorted(set(roles.values()) & set(resources)):
        properties = resources[role]["Properties"]
        if properties.get("ManagedPolicyArns"):
            yield f"{role} has policies that are not ours"
        for policy in properties["Policies"]:
            if wide := wildcard_resources(policy["PolicyDocument"]):
                yield f"{role} may reach {wide}"


def _secret_faults(template: Json) -> Iterator[str]:
    for name, parameter in template.get("Parameters", {}).items():
        if _is_secret(name) and (not parameter.get("NoEcho") or parameter.get("Default")):
            yield f"the parameter {name} would be shown"
    for path, variables in _variables(template):
        for name, value in variables.items():
            if isinstance(value, str):
                yield f"{path} has a value for {name} in the template"
            elif _is_secret(name) and path != "APIHandler":
                yield f"{path} gets {name}, which only the API needs"


def _is_secret(name: str) -> bool:
    return name not in _NO_SECRETS and not _REFERENCE.search(name) and bool(_SECRET_NAME.search(name))


class _Noted(dict[str, str]):
    """An empty environment that notes which variables are looked for."""

    def get(self, name: str, default: Any = None) -> Any:
        self[name] = ""
        return default


def settings_read() -> list[str]:
    """Every variable that `Settings` reads."""
    noted = _Noted()
    Settings.read(noted)
    return sorted(noted)


def _setting_faults(template: Json) -> Iterator[str]:
    variables_given = {name for _, variables in _variables(template) for name in variables}
    for name in settings_read():
        # A secret that is only compared is given as its hash, others by the ARN of the secret.
        if not {name, f"{name}_HASH", f"{name}_SECRET_ARN"} & variables_given and name not in NOT_DEPLOYED:
            yield f"no function gets {name}"


def _network_faults(template: Json) -> Iterator[str]:
    """Private databases, brokers and Connect workers are reached from inside a VPC alone."""
    shared = template.get("Globals", {}).get("Function", {}).get("VpcConfig", {})
    if "VpcSubnetIds" not in template.get("Parameters", {}):
        yield "no parameter puts the functions into a VPC"
    roles = template["Resources"].get(NETWORK_POLICY, {}).get("Properties", {}).get("Roles", [])
    for name, function in _of_type(template["Resources"], "AWS::Serverless::Function").items():
        own = function["Properties"].get("VpcConfig", shared)
        may_connect = {"Ref": function["Properties"]["Role"]["Fn::GetAtt"][0]} in roles
        if name == OUTSIDE:
            if own or may_connect:
                yield f"{name} could reach what is private"
            continue
        if {"Ref": "VpcSubnetIds"} not in _dictionaries(own):
            yield f"no parameter puts {name} into a VPC"
        if not may_connect:
            yield f"the role of {name} may not connect it to a VPC"
        if function.get("DependsOn") != NETWORK_POLICY:
            yield f"{name} may be made before its role may connect it to a VPC"


def _dictionaries(value: Any) -> Iterator[Json]:
    """Every dictionary inside of a value, and the value itself."""
    if isinstance(value, dict):
        yield value
    for item in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _dictionaries(item)


def _variables(template: Json) -> Iterator[tuple[str, Json]]:
    yield "Globals", template.get("Globals", {}).get("Function", {}).get("Environment", {}).get("Variables", {})
    for name, function in _of_type(template["Resources"], "AWS::Serverless::Function").items():
        yield name, function["Properties"].get("Environment", {}).get("Variables", {})


def _log_faults(resources: Json) -> Iterator[str]:
    logs = {
        log["Properties"]["LogGroupName"]["Fn::Sub"]: log["Properties"].get("RetentionInDays")
        for log in _of_type(resources, "AWS::Logs::LogGroup").values()
    }
    for name, function in _of_type(resources, "AWS::Serverless::Function").items():
        if not logs.get("/aws/lambda/" + function["Properties"].get("FunctionName", {}).get("Fn::Sub", "")):
            yield f"the log of {name} is kept for ever"


def _reference_faults(template: Json) -> Iterator[str]:
    """Chalice itself refers to a function that does not exist when it sets how long the API's log is kept."""
    defined = {*template["Resources"], *template.get("Parameters", {})}
    lost = {name for name in _references(template) if not name.startswith("AWS::")} - defined
    if lost:
        yield f"the template refers to {sorted(lost)}, which it does not have"


def _references(value: Any) -> Iterator[str]:
    """Every name that `Ref`, `Fn::GetAtt` or `Fn::Sub` asks for."""
    match value:
        case {"Ref": str(name)}:
            yield name
        case {"Fn::GetAtt": [str(name), *_]}:
            yield name
        case {"Fn::Sub": str(text)}:
            yield from (name.partition(".")[0] for name in _VARIABLE.findall(text))
        case {"Fn::Sub": [str(text), dict(variables)]}:
            yield from (name.partition(".")[0] for name in _VARIABLE.findall(text) if name not in variables)
            yield from _references(variables)
        case dict():
            yield from (name for item in value.values() for name in _references(item))
        case list():
            yield from (name for item in value for name in _references(item))


def _of_type(resources: Json, kind: str) -> dict[str, Any]:
    return {name: resource for name, resource in resources.items() if resource.get("Type") == kind}
