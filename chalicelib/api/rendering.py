"""From what a handler returned to a response: bodies, `Location`, `ETag`, cursors, cookies."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from chalicelib.api.http import JSON, Answer, HttpRequest, HttpResponse, Reply
from chalicelib.api.route import Route
from chalicelib.kit.adapters import adapter
from chalicelib.kit.pages import Page

if TYPE_CHECKING:
    from pydantic import TypeAdapter

NEXT_CURSOR = "X-Next-Cursor"
HTML_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
SECURITY_HEADERS: Mapping[str, str] = {
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
}


def render(route: Route, request: HttpRequest, result: Any, sign: Callable[[str], str]) -> HttpResponse:
    """The response for what the handler returned. `sign` turns a store's key into a cursor of this list.

    Raises `TypeError` when the handler returned something else than it declares.
    """
    if isinstance(result, Reply):
        return HttpResponse(
            status=result.status, body=result.text, headers={**result.headers, "Content-Type": result.media_type}
        )
    answer = result if isinstance(result, Answer) else Answer(body=result, status=route.status)
    body = answer.body
    headers: dict[str, str | tuple[str, ...]] = dict(answer.headers)
    if answer.cookies:
        headers["Set-Cookie"] = answer.cookies
    if body is None and (route.answers.kind == "none" or answer.status == 204):
        return HttpResponse(status=204 if answer.status == 200 else answer.status, headers=headers)
    text = _text(route, body)
    if isinstance(body, Page) and body.next_key is not None:
        headers[NEXT_CURSOR] = sign(body.next_key)
    if isinstance(version := getattr(body, "version", None), int):
        headers.setdefault("ETag", f'"{version}"')
    if answer.status == 201 or route.location:
        headers.setdefault("Location", _location(route, request, body))
    return HttpResponse(status=answer.status, body=text, headers={**headers, "Content-Type": JSON})


def with_security_headers(response: HttpResponse) -> HttpResponse:
    """The response with the headers that every response carries; pages get a content security policy too."""
    headers = {**SECURITY_HEADERS, **response.headers}
    if str(headers.get("Content-Type", "")).startswith("text/html"):
        headers.setdefault("Content-Security-Policy", HTML_POLICY)
    return HttpResponse(status=response.status, body=response.body, headers=headers)


def _text(route: Route, body: Any) -> str:
    shape = route.answers
    if shape.kind == "page" and isinstance(body, Page):
        return _list_adapter(shape.model).dump_json(list(body.items), by_alias=True).decode()
    if shape.kind == "list" and isinstance(body, list):
        return _list_adapter(shape.model).dump_json(body, by_alias=True).decode()
    if shape.kind == "model" and isinstance(body, BaseModel):
        return body.model_dump_json(by_alias=True)
    raise TypeError(f"{route.name} returned a {type(body).__name__}, not the {shape.kind} that it declares")


def _list_adapter(model: Any) -> "TypeAdapter[list[Any]]":
    return adapter(list[model])


def _location(route: Route, request: HttpRequest, body: Any) -> str:
    identity = str(getattr(body, "id", ""))
    path = route.location.format(id=identity) if route.location else f"{request.path}/{identity}"
    return request.base + path
