"""Compares the errors that tests get with those that the OpenAPI document names for the operation."""

import re
from functools import cache
from typing import Any

import httpx

Json = dict[str, Any]
_VARIABLE = re.compile(r"\\{\w+\\}")


def check_documented(base_url: str, method: str, path: str, response: httpx.Response) -> None:
    """Asserts that the document names the error's code. Whatever is no operation of the document has no such list."""
    operation = _operation(base_url, method.lower(), path)
    if response.status_code < 400 or operation is None:
        return
    if "error" not in (body := response.json()):
        return  # such as that of `/ready`, which has a model of its own
    code = body["error"]["code"]
    documented = operation["responses"].get(str(response.status_code), {}).get("content", {})
    schema = documented.get("application/json", {}).get("schema", {})
    codes = schema.get("properties", {}).get("error", {}).get("properties", {}).get("code", {}).get("enum", ())
    name = operation["operationId"]
    assert code in codes, f"{name} gives {code}: add it in chalicelib/api/documentation/errors.py"


def _operation(base_url: str, method: str, path: str) -> Json | None:
    for pattern, methods in _paths(base_url):
        if pattern.fullmatch(path):
            found: Json | None = methods.get(method)
            return found
    return None


@cache
def _paths(base_url: str) -> list[tuple[re.Pattern[str], Json]]:
    """Each path with its operations, literal ones before those with variables."""
    document = httpx.get(f"{base_url}/openapi.json", timeout=60, trust_env=False).json()
    ordered = sorted(document["paths"], key=lambda path: path.count("{"))
    return [(re.compile(_VARIABLE.sub("[^/]+", re.escape(path))), document["paths"][path]) for path in ordered]
