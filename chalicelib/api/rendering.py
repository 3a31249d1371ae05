"""From what a handler returned to a response: bodies, `Location`, `ETag`, cursors, cookies."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from pydantic import BaseModel

from chalicelib.api.http import JSON, HttpRequest, HttpResponse, JsonResponse, TextResponse
from chalicelib.api.route import Route
from chalicelib.kit.adapters import adapter
from chalicelib.kit.pages import Page

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
    if isinstance(result, TextResponse):
        return HttpResponse(status=result.status, body=result.text, headers={"Content-Type": result.media_type})
    chosen = result if isinstance(result, JsonResponse) else JsonResponse(body=result, status=route.status)
    body, status = chosen.body, chosen.status
    headers: dict[str, str | tuple[str, ...]] = dict(chosen.headers)
    if chosen.cookies:
        headers["Set-Cookie"] = chosen.cookies
    if body is None and (route.response.kind == "none" or status == 204):
        return HttpResponse(status=204 if status == 200 else status, headers=headers)
    text = _text(route, body)
    if isinstance(body, Page) and body.next_key is not None:
        headers[NEXT_CURSOR] = sign(body.next_key)
    if isinstance(version := getattr(body, "version", None), int):
        headers.setdefault("ETag", f'"{version}"')
    if status == 201 or route.location:
        headers.setdefault("Location", _location(route, request, body))
    return HttpResponse(status=status, body=text, headers={**headers, "Content-Type": JSON})


def with_security_headers(response: HttpResponse) -> HttpResponse:
    """The response with the security headers; pages get a content security policy, too."""
    headers = {**SECURITY_HEADERS, **response.headers}
    if str(headers.get("Content-Type", "")).startswith("text/html"):
        headers.setdefault("Content-Security-Policy", HTML_POLICY)
    return replace(response, headers=headers)


def _text(route: Route, body: Any) -> str:
    declared = route.response
    match declared.kind, body:
        case "page", Page():
            return _list_text(declared.model, list(body.items))
        case "list", list():
            return _list_text(declared.model, body)
        case "model", BaseModel():
            return body.model_dump_json(by_alias=True)
    raise TypeError(f"{route.name} returned a {type(body).__name__}, not the {declared.kind} that it declares")


def _list_text(model: Any, items: list[Any]) -> str:
    return adapter(list[model]).dump_json(items, by_alias=True).decode()


def _location(route: Route, request: HttpRequest, body: Any) -> str:
    resource_id = str(getattr(body, "id", ""))
    path = route.location.format(id=resource_id) if route.location else f"{request.path}/{resource_id}"
    return request.base + path
