import json
from typing import Any

import pytest
from pydantic import BaseModel, Field

from chalicelib.api.contract.common import Integer
from chalicelib.api.framework.openapi import as_text, document
from chalicelib.api.framework.router import Router
from chalicelib.domain.access import Permission
from tests.support.apps.edge import make_edge

DOCUMENT = document(make_edge().mounted, title="T", version="1")
THING = DOCUMENT["paths"]["/api/v1/things/{uuid}"]


def references(part: Any) -> list[str]:
    if isinstance(part, dict):
        own = [part["$ref"]] if "$ref" in part else []
        return own + [found for value in part.values() for found in references(value)]
    return [found for value in part for found in references(value)] if isinstance(part, list) else []


def test_it_is_openapi_3_1_and_json() -> None:
    assert json.loads(as_text(DOCUMENT, "/api"))["servers"] == [{"url": "/api"}]
    assert DOCUMENT["openapi"] == "3.1.0"


def test_a_route_documents_its_permission_and_the_roles_that_have_it() -> None:
    assert (THING["delete"]["x-permission"], THING["delete"]["x-roles"]) == ("administer", ["Admin"])
    assert THING["get"]["security"] == [{"session": []}, {"token": []}]
    assert DOCUMENT["paths"]["/api/v1/wall"]["get"]["security"] == []


def test_query_parameters_are_documented_by_their_names_on_the_wire() -> None:
    parameters = DOCUMENT["paths"]["/api/v1/things"]["get"]["parameters"]
    listed = {field["name"]: field for field in parameters if "name" in field}
    assert set(listed) == {"limit", "cursor", "status", "tag", "pageSize"}
    assert listed["limit"]["schema"]["maximum"] == 500
    assert listed["status"]["schema"]["enum"] == ["on", "off"]
    assert listed["tag"]["schema"]["type"] == "array"
    assert not any("ThingQuery" in name for name in DOCUMENT["components"]["schemas"])


def test_path_variables_have_their_kinds() -> None:
    [uuid] = [field for field in THING["get"]["parameters"] if field.get("in") == "path"]
    assert (uuid["schema"], uuid["required"]) == ({"type": "string", "format": "uuid"}, True)


@pytest.mark.parametrize(
    ("path", "method", "headers"),
    [
        ("/api/v1/things", "post", {"Background", "CorrelationId", "IdempotencyKey"}),
        ("/api/v1/things/{uuid}", "put", {"Background", "CorrelationId", "IfMatch"}),
        ("/api/v1/things/{uuid}", "get", {"Background", "CorrelationId"}),
        ("/api/v1/things", "get", {"Background", "CorrelationId", "IfNoneMatch"}),
    ],
)
def test_headers_are_documented_where_they_have_an_effect(path: str, method: str, headers: set[str]) -> None:
    documented = references(DOCUMENT["paths"][path][method]["parameters"])
    assert {name.rsplit("/", 1)[1] for name in documented} == headers


@pytest.mark.parametrize(
    ("path", "method", "status", "has_content"),
    [
        ("/api/v1/things", "post", "201", True),
        ("/api/v1/things/{uuid}", "delete", "204", False),
        ("/api/v1/things/{uuid}/tasks/{task_id}/restart", "post", "202", True),
        ("/ready", "get", "503", True),
    ],
)
def test_each_success_is_documented_with_its_status(path: str, method: str, status: str, has_content: bool) -> None:
    assert ("content" in DOCUMENT["paths"][path][method]["responses"][status]) is has_content


def test_refusals_are_documented_with_their_codes() -> None:
    responses = THING["put"]["responses"]
    assert {"400", "401", "403", "404", "409", "412", "413", "415", "422", "500", "503"} <= set(responses)
    conflict = DOCUMENT["components"]["responses"]["Problem409"]["content"]["application/json"]["schema"]
    assert "NAME_CONFLICT" in conflict["properties"]["error"]["properties"]["code"]["enum"]


def test_a_removed_route_documents_no_success() -> None:
    events = DOCUMENT["paths"]["/api/v1/events"]["get"]
    assert events["deprecated"] is True
    assert [status for status in events["responses"] if status < "400"] == []
    assert "410" in events["responses"]


def test_unknown_fields_are_documented_as_refused() -> None:
    assert DOCUMENT["components"]["schemas"]["ThingInput"]["additionalProperties"] is False
    assert DOCUMENT["components"]["schemas"]["Address"]["additionalProperties"] is False


def test_a_body_that_may_be_left_out_is_not_required() -> None:
    assert DOCUMENT["paths"]["/api/v1/things/{uuid}/note"]["post"]["requestBody"]["required"] is False
    assert DOCUMENT["paths"]["/api/v1/things"]["post"]["requestBody"]["required"] is True


def test_two_operations_of_one_name_are_refused() -> None:
    routes = Router(tag="T")
    for path in ("/a", "/b"):
        routes.get(path, needs=Permission.READ)(_same)
    with pytest.raises(ValueError, match="one name"):
        document([(route.path, route) for route in routes.routes], title="T", version="1")


def _same() -> list[int]:
    """Same."""
    return []


def test_a_cursor_and_conditional_headers_have_patterns() -> None:
    parameters = DOCUMENT["paths"]["/api/v1/things"]["get"]["parameters"]
    [cursor] = [field["schema"] for field in parameters if field.get("name") == "cursor"]
    assert (cursor["pattern"], cursor["maxLength"]) == ("^[A-Za-z0-9_-]+$", 4096)
    headers = DOCUMENT["components"]["parameters"]
    assert headers["IfMatch"]["schema"]["pattern"] == '^"(0|[1-9][0-9]{0,15})"$'
    assert headers["IdempotencyKey"]["schema"]["pattern"] == "^[A-Za-z0-9._-]{1,64}$"


class Bounded(BaseModel):
    size: Integer | None = Field(default=None, ge=1, le=9)


def test_the_bounds_of_an_optional_number_are_documented() -> None:
    routes = Router(tag="T")

    @routes.post("/bounded", needs=Permission.WRITE)
    def bound(body: Bounded) -> None:
        """Bounds."""

    schemas = document([("/bounded", routes.routes[0])], title="T", version="1")["components"]["schemas"]
    [number, _] = schemas["Bounded"]["properties"]["size"]["anyOf"]
    assert number == {"type": "integer", "minimum": 1, "maximum": 9}


def test_a_list_documents_its_weak_tag_and_304_and_what_has_a_version_does_not() -> None:
    listed = DOCUMENT["paths"]["/api/v1/things"]["get"]["responses"]
    assert listed["200"]["headers"]["ETag"] == {"$ref": "#/components/headers/BodyTag"}
    assert listed["304"] == {"$ref": "#/components/responses/NotModified"}
    assert "X-Observed-At" in DOCUMENT["components"]["responses"]["NotModified"]["headers"]
    assert "304" not in THING["get"]["responses"]
