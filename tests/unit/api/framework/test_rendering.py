import json
from dataclasses import replace

import pytest
from pydantic import BaseModel

from chalicelib.api.framework.http import HttpRequest, HttpResponse, JsonResponse, TextResponse, WithList
from chalicelib.api.framework.rendering import render, with_security_headers
from chalicelib.api.framework.route import Route, read_signature
from chalicelib.api.framework.router import Router
from chalicelib.domain.access import Permission
from chalicelib.kit.pages import Page
from tests.support.apps.edge import ADMIN, make_edge, through_lambda_event


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
    return render(route, request, result, lambda key, list_path: f"signed {list_path}{key}")


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
    whole = Page((Thing(),), ("k",))
    last, first = respond(Page[Thing], whole), respond(Page[Thing], replace(whole, more=True))
    assert json.loads(first.body) == [{"id": "7", "name": "n"}]
    assert first.headers["X-Next-Cursor"] == "signed k"
    assert "X-Next-Cursor" not in last.headers
    assert respond(Page[Thing], Page((), ())).body == "[]"


class Shelf(BaseModel):
    name: str = "shelf"
    things: list[Thing] = []


MEBIBYTE = 1024 * 1024


def page_of_things(*sizes: int, letter: str = "x") -> Page[Thing]:
    things = tuple(Thing(id=str(number), name=letter * size) for number, size in enumerate(sizes))
    return Page(things, tuple(thing.id for thing in things))


def ids_of(things: list[dict[str, str]]) -> list[str]:
    return [thing["id"] for thing in things]


def test_a_page_ends_before_its_body_would_pass_4_mib() -> None:
    response = respond(Page[Thing], page_of_things(*[MEBIBYTE] * 5))
    assert ids_of(json.loads(response.body)) == ["0", "1", "2"]
    assert response.headers["X-Next-Cursor"] == "signed 2"
    exact = page_of_things(MEBIBYTE, 3 * MEBIBYTE - len('[{"id":"0","name":""},{"id":"1","name":""}]'))
    assert len(respond(Page[Thing], exact).body) == 4 * MEBIBYTE
    assert "X-Next-Cursor" not in respond(Page[Thing], exact).headers


def test_a_page_of_quotes_ends_before_a_function_could_not_answer_with_it() -> None:
    response = respond(Page[Thing], page_of_things(*[MEBIBYTE // 2] * 4, letter='"'))
    assert len(json.dumps(response.body)) < 6_000_000
    assert response.headers["X-Next-Cursor"] == "signed 1"


def test_one_item_goes_out_whatever_its_size() -> None:
    response = respond(Page[Thing], page_of_things(5 * MEBIBYTE, 1))
    assert ids_of(json.loads(response.body)) == ["0"]
    assert response.headers["X-Next-Cursor"] == "signed 0"


def test_a_list_inside_a_model_is_cut_with_a_cursor_of_the_list_below() -> None:
    def shelf(*sizes: int) -> HttpResponse:
        page, body = page_of_things(*sizes), Shelf(name="s" * MEBIBYTE)
        listed = WithList(body=body, field="things", page=page, list_path="/things")
        return respond(WithList[Shelf], listed)

    long, short = shelf(*[MEBIBYTE] * 4), shelf(1, 1)
    assert ids_of(json.loads(long.body)["things"]) == ["0", "1"]
    assert len(long.body) < 4 * MEBIBYTE
    assert long.headers["X-Next-Cursor"] == "signed /things1"
    assert ids_of(json.loads(short.body)["things"]) == ["0", "1"]
    assert "X-Next-Cursor" not in short.headers


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
    [(Thing, None), (Thing, {"id": "7"}), (None, Thing()), (Page[Thing], [Thing()]), (list[Thing], Page((), ()))],
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
    ids, target = [], "/api/v1/things?limit=2&tag=a"
    while True:
        page = send("GET", target, ADMIN, b"")
        ids += [item["id"] for item in json.loads(page.body)]
        if "x-next-cursor" not in page.headers:
            break
        cursor = page.headers["x-next-cursor"]
        target = f"/api/v1/things?limit=2&tag=a&cursor={cursor}"
    assert ids == ["0", "1", "2", "3", "4"]
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
