"""The OpenAPI document: whether it is valid, and whether responses agree with it."""

import json
import re
from typing import Any

import jsonschema
import pytest

from chalicelib.api.framework.errors import CODES
from tests.security.authorization import reviewed
from tests.support.api_assertions import UNKNOWN_ID
from tests.support.apps.sandbox import Json, Sandbox


@pytest.fixture(scope="module")
def document(sandbox: Sandbox) -> Json:
    return dict(sandbox.unauthenticated().get_ok("//openapi.json"))


def _operations(document: Json) -> list[tuple[str, str, Json]]:
    paths = document["paths"].items()
    return [(method, path, operation) for path, methods in paths for method, operation in methods.items()]


def test_every_route_is_documented_but_those_for_browsers_and_for_connect(document: Json) -> None:
    hidden = re.compile(r"GET (/docs|/console|/openapi.json|/internal/|/api/v1/auth/oidc/)")
    documented = {f"{method.upper()} {path}" for method, path, _ in _operations(document)}
    assert documented == {route for route in reviewed() if not hidden.match(route)}


def test_no_part_of_a_body_is_one_of_several_models(document: Json) -> None:
    """Locations of errors count on it: see `chalicelib.api.framework.inputs`."""
    assert '"discriminator"' not in json.dumps(document["components"]["schemas"])
    assert '"discriminator"' in json.dumps(document["paths"])


def test_the_document_is_valid(document: Json) -> None:
    assert document["openapi"].startswith("3.1.")
    assert {"title", "version"} <= set(document["info"])
    operations = _operations(document)
    assert len({operation["operationId"] for _, _, operation in operations}) == len(operations)
    for _, path, operation in operations:
        in_path = {p["name"] for p in operation["parameters"] if p.get("in") == "path"}
        assert in_path == set(re.findall(r"{(\w+)}", path))
        assert all(p["required"] for p in operation["parameters"] if p.get("in") == "path")
        assert operation["responses"]
        assert all("description" in _resolved(document, response) for response in operation["responses"].values())
        for requirement in operation["security"]:
            assert set(requirement) <= set(document["components"]["securitySchemes"])


def test_every_reference_has_a_target(document: Json) -> None:
    for reference in set(re.findall(r'"\$ref": "([^"]+)"', json.dumps(document))):
        assert _resolved(document, {"$ref": reference})


def test_every_schema_is_a_json_schema(document: Json) -> None:
    for schema in document["components"]["schemas"].values():
        jsonschema.Draft202012Validator.check_schema(schema)


def test_every_code_of_the_contract_is_documented_under_its_status(document: Json) -> None:
    for status, codes in CODES.items():
        if status == 405:
            continue  # no documented operation returns it
        response = document["components"]["responses"][f"Problem{status}"]
        schema = response["content"]["application/json"]["schema"]
        assert schema["properties"]["error"]["properties"]["code"]["enum"] == list(codes)


def test_responses_are_as_documented(sandbox: Sandbox, document: Json) -> None:
    delivery = sandbox.new_delivery()
    paths = {
        "/session": {}, "/sources": {}, "/audit": {}, "/stream/clusters": {}, "/connect/clusters": {}, "/pipelines": {},
        "/deliveries": {}, "/destinations": {}, "/alerts": {}, "/alerts/summary": {}, "/alert-rules": {},
        "/notification-channels": {}, "/connections": {}, "/connections/{uuid}": {"uuid": sandbox.connection["id"]},
        "/sources/{uuid}": {"uuid": sandbox.source["id"]}, "/sources/{uuid}/tables": {"uuid": sandbox.source["id"]},
        "/sources/{uuid}/cdc-readiness": {"uuid": sandbox.source["id"]},
        "/connect/clusters/{uuid}/plugins": {"uuid": sandbox.connect["id"]},
        "/connect/connectors": {},
        "/pipelines/{uuid}": {"uuid": sandbox.pipeline["id"]},
        "/pipelines/{uuid}/status": {"uuid": sandbox.pipeline["id"]},
        "/destinations/{uuid}/status": {"uuid": delivery["destination_id"]},
        "/destinations/{uuid}/mappings": {"uuid": delivery["destination_id"]},
        "/deliveries/{uuid}": {"uuid": delivery["id"]}, "/deliveries/{uuid}/status": {"uuid": delivery["id"]},
        "/pipelines/{uuid}/timeline": {"uuid": sandbox.pipeline["id"]},
        "/deliveries/{uuid}/timeline": {"uuid": delivery["id"]},
        "/deliveries/{uuid}/metric-history": {"uuid": delivery["id"]},
        "/sources/{uuid}/log-history": {"uuid": sandbox.source["id"]},
    }  # fmt: skip
    for path, values in paths.items():
        schema = document["paths"]["/api/v1" + path]["get"]["responses"]["200"]["content"]["application/json"]["schema"]
        jsonschema.validate(
            sandbox.admin.get_ok(path.format(**values)), {**schema, "components": document["components"]}
        )


def test_refusals_are_as_documented(sandbox: Sandbox, document: Json) -> None:
    cases = [
        ("get", "/sources/{uuid}", sandbox.admin.get(f"/sources/{UNKNOWN_ID}")),
        ("post", "/sources", sandbox.admin.post("/sources", {})),
        ("post", "/sources", sandbox.unauthenticated().post("/sources", {})),
        ("post", "/sources", sandbox.with_role("Viewer").post("/sources", {})),
        ("get", "/events", sandbox.unauthenticated().get("/events")),
    ]
    for method, path, response in cases:
        documented = document["paths"]["/api/v1" + path][method]["responses"][str(response.status_code)]
        schema = _resolved(document, documented)["content"]["application/json"]["schema"]
        jsonschema.validate(response.json(), {**schema, "components": document["components"]})


def _resolved(document: Json, part: Json) -> Any:
    while "$ref" in part:
        found: Any = document
        for step in part["$ref"].removeprefix("#/").split("/"):
            found = found[step]
        part = found
    return part
