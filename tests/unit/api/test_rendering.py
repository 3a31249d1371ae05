import json

import pytest
from pydantic import BaseModel

from chalicelib.api.http import HttpRequest, HttpResponse, JsonResponse, TextResponse
from chalicelib.api.rendering import render, with_security_headers
from chalicelib.api.route import Route, read_signature
from chalicelib.api.router import Router
from chalicelib.domain.access import Permission
from chalicelib.kit.pages import Page
from tests.support.edge import ADMIN, make_edge, through_lambda_event


class Thing(BaseModel):
    id: str = "7"
    name: str = "n"


class Versioned(Thing):
    version: int = 4


def respond(returns: object, result: object, **options: object) -> HttpResponse:
    def handler() -> None: ...

    handler.__annotations__["return"] = returns
    facts = {"status": 200, **options, **read_signature(handler, "/things")}
    route = Route(method="POST", path="/things", tag="T", needs=Permission.READ, handler=handler, **facts)  # type: ignore[arg-type]
    request = HttpRequest(method="POST", route="/v1/things", path="/v1/things", base="/stage")
    return render(route, request, result, lambda key: f"signed {key}")


def test_a_model_is_a_json_body() -> None:
    response = respond(Thing, Thing())
    assert (response.status, response.body) == (200, '{"id":"7","name":"n"}')
    assert response.headers == {"Content-Type": "application/json; charset=utf-8"}


def test_a_version_becomes_an_etag() -> None:
    assert respond(Versioned, Versioned()).headers["ETag"] == '"4"'


def test_a_created_model_has_a_location_with_the_stage() -> None:
    assert respond(Thing, Thing(), status=201).headers["Location"] == "/stage/v1/things/7"
    elsewhere = respond(Thing, Thing(), status=201, location="/v1/deliveries/{id}")
    assert elsewhere.headers["Location"] == "/stage/v1/deliveries/7"


def test_a_page_is_an_array_with_a_cursor_only_when_it_goes_on() -> None:
    last, first = respond(Page[Thing], Page((Thing(),))), respond(Page[Thing], Page((Thing(),), "k"))
    assert json.loads(first.body) == [{"id": "7", "name": "n"}]
    assert first.headers["X-Next-Cursor"] == "signed k"
    assert "X-Next-Cursor" not in last.headers
    assert respond(Page[Thing], Page(())).body == "[]"


def test_none_is_an_empty_204_without_a_type() -> None:
    response = respond(None, None)
    assert (response.status, response.body, dict(response.headers)) == (204, "", {})


def test_a_json_response_sets_status_headers_and_cookies() -> None:
    response = respond(
        JsonResponse[Thing], JsonResponse(body=Thing(), status=202, headers={"X-A": "1"}, cookies=("a=1", "b=2"))
    )
    assert (response.status, response.headers["X-A"], response.headers["Set-Cookie"]) == (202, "1", ("a=1", "b=2"))


def test_an_empty_response_may_have_a_cookie() -> None:
    response = respond(JsonResponse[None], JsonResponse(body=None, status=204, cookies=("a=; Max-Age=0",)))
    assert (response.status, response.body, response.headers["Set-Cookie"]) == (204, "", ("a=; Max-Age=0",))


def test_a_text_response_is_sent_unchanged() -> None:
    response = respond(TextResponse, TextResponse(text="x 1\n", media_type="text/plain; version=0.0.4"))
    assert (response.body, response.headers["Content-Type"]) == ("x 1\n", "text/plain; version=0.0.4")


@pytest.mark.parametrize(
    ("returns", "result"),
    [(Thing, None), (Thing, {"id": "7"}), (None, Thing()), (Page[Thing], [Thing()]), (list[Thing], Page(()))],
)
def test_another_kind_of_result_than_declared_is_refused(returns: object, result: object) -> None:
    with pytest.raises(TypeError, match="declares"):
        respond(returns, result)


def test_only_pages_get_a_content_security_policy() -> None:
    html = with_security_headers(HttpResponse(status=200, headers={"Content-Type": "text/html; charset=utf-8"}))
    plain = with_security_headers(HttpResponse(status=200, headers={"Content-Type": "text/plain"}))
    assert "default-src 'none'" in str(html.headers["Content-Security-Policy"])
    assert "unsafe" not in str(html.headers["Content-Security-Policy"])
    assert "Content-Security-Policy" not in plain.headers


def test_the_next_cursor_leads_through_the_whole_list_and_only_that_list() -> None:
    send = through_lambda_event(make_edge().app)
    seen, target = [], "/api/v1/things?limit=2&tag=a"
    while True:
        page = send("GET", target, ADMIN, b"")
        seen += [item["id"] for item in json.loads(page.body)]
        if "x-next-cursor" not in page.headers:
            break
        cursor = page.headers["x-next-cursor"]
        target = f"/api/v1/things?limit=2&tag=a&cursor={cursor}"
    assert seen == ["0", "1", "2", "3", "4"]
    assert send("GET", f"/api/v1/things?limit=2&tag=b&cursor={cursor}", ADMIN, b"").status == 422


def test_a_handlers_name_and_docstring_describe_the_route() -> None:
    routes = Router(tag="T")

    @routes.get("/things", needs=Permission.READ)
    def list_things() -> list[Thing]:
        """List them.

        At length.
        """
        return []

    [route] = routes.routes
    assert (route.name, route.summary, route.description) == ("list_things", "List them.", "List them.\n\nAt length.")
