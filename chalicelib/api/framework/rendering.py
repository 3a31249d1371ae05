"""From what a handler returned to a response: bodies, `Location`, `ETag`, cursors, cookies."""

import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from pydantic import BaseModel
from pydantic_core import to_json

from chalicelib.api.framework.body_tags import has_body_tag, is_known, with_body_tag
from chalicelib.api.framework.http import JSON, Caching, HttpRequest, HttpResponse, JsonResponse, TextResponse, WithList
from chalicelib.api.framework.route import Route
from chalicelib.kit.adapters import adapter
from chalicelib.kit.pages import PAGE_BYTES, Page

NEXT_CURSOR = "X-Next-Cursor"
UNREADABLE = "X-Unreadable"
HTML_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
ANSWER_BYTES = 5_500_000
"""Of a list in a function's answer, which carries the body as a JSON string: quotes and backslashes take two bytes. The
service's limit is 6 MB, with the headers.
"""
SECURITY_HEADERS: Mapping[str, str] = {
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
}


def render(route: Route, request: HttpRequest, result: Any, sign: Callable[[str, str], str]) -> HttpResponse:
    """The response for what the handler returned.

    `sign` turns a store's key into a cursor of the list at this path, or, by its second argument, at a path below it.
    Raises `TypeError` when the handler returned something else than it declares.
    """
    if isinstance(result, TextResponse):
        return _text_response(request, result)
    chosen = result if isinstance(result, JsonResponse) else JsonResponse(body=result, status=route.status)
    body, status = chosen.body, chosen.status
    headers: dict[str, str | tuple[str, ...]] = dict(chosen.headers)
    if chosen.cookies:
        headers["Set-Cookie"] = chosen.cookies
    if body is None and (route.response.kind == "none" or status == 204):
        return HttpResponse(status=204 if status == 200 else status, headers=headers)
    text, next_key = _text(route, body)
    if next_key is not None:
        headers[NEXT_CURSOR] = sign(next_key, body.list_path if isinstance(body, WithList) else "")
    if isinstance(body, WithList):
        body = body.body
    if isinstance(version := getattr(body, "version", None), int):
        headers.setdefault("ETag", f'"{version}"')
    if status == 201 or route.location:
        headers.setdefault("Location", _location(route, request, body))
    response = HttpResponse(status=status, body=text, headers={**headers, "Content-Type": JSON})
    if status != 200 or "ETag" in headers or not has_body_tag(route):
        return response
    return with_body_tag(request, response, next_key)


def with_security_headers(response: HttpResponse, *, https: bool = False) -> HttpResponse:
    """The response with the security headers; pages get a content security policy, too."""
    headers = {**SECURITY_HEADERS, **response.headers}
    # Over https the browser is asked to use nothing else for a year; RFC 6797, section 7.2, forbids that over http.
    if https:
        headers["Strict-Transport-Security"] = "max-age=31536000"
    if str(headers.get("Content-Type", "")).startswith("text/html"):
        headers.setdefault("Content-Security-Policy", HTML_POLICY)
    return replace(response, headers=headers)


def _text_response(request: HttpRequest, result: TextResponse) -> HttpResponse:
    headers = {"Content-Type": result.media_type, **result.headers}
    match result.caching:
        case Caching.FOR_EVER:
            headers["Cache-Control"] = "public, max-age=31536000, immutable"
        case Caching.WITH_ETAG:
            # RFC 9111, section 5.2.2.4: it may be kept, and is not used before we have said that it is the same.
            headers |= {"Cache-Control": "no-cache", "ETag": f'"{text_hash(result.text)}"'}
            if is_known(request.headers.get("if-none-match", ""), headers["ETag"]):
                return HttpResponse(status=304, headers=headers)
    return HttpResponse(status=result.status, body=result.text, headers=headers)


def text_hash(text: str) -> str:
    """What changes with the text: for its ETag, or its address."""
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _text(route: Route, body: Any) -> tuple[str, str | None]:
    """The body's JSON, and the key behind which a list that did not fit goes on."""
    declared = route.response
    match declared.kind, body:
        case "page", Page():
            texts = _texts_that_fit(body.items)
            return f"[{','.join(texts)}]", body.first(len(texts)).next_key
        case "list", list():
            return _list_text(declared.model, body), None
        case "model with list", WithList():
            return _text_with_list(body)
        case "model", BaseModel():
            return body.model_dump_json(by_alias=True), None
    raise TypeError(f"{route.name} returned a {type(body).__name__}, not the {declared.kind} that it declares")


def _text_with_list(chosen: WithList[Any]) -> tuple[str, str | None]:
    if not chosen.field:
        return chosen.body.model_dump_json(by_alias=True), chosen.page.next_key
    # Without its list the body shows how much room it leaves.
    empty = chosen.body.model_copy(update={chosen.field: []})
    texts = _texts_that_fit(chosen.page.items, room_for=empty.model_dump_json(by_alias=True))
    shown = chosen.page.first(len(texts))
    full = empty.model_copy(update={chosen.field: list(shown.items)})
    return full.model_dump_json(by_alias=True), shown.next_key


def _texts_that_fit(items: Iterable[Any], room_for: str = "") -> list[str]:
    """The JSON of the first items, as many as fit into one body beside what it needs room for; at least one."""
    all_texts = list(map(_json, items))
    # A character has four bytes at most: nearly every list needs no closer look.
    if 4 * (len(room_for) + sum(map(len, all_texts)) + len(all_texts)) < PAGE_BYTES:
        return all_texts
    texts: list[str] = []
    body, answer = _sizes(room_for + "[")
    for text in all_texts:
        more_body, more_answer = _sizes(text + ",")
        body, answer = body + more_body, answer + more_answer
        # The first item goes out whatever its size: a page that shows nothing would never lead on.
        if texts and (body > PAGE_BYTES or answer > ANSWER_BYTES):
            break
        texts.append(text)
    return texts


def _json(item: BaseModel | Mapping[str, Any]) -> str:
    """Of a model, or of a typed dict, whose values are as they are shown."""
    return item.model_dump_json(by_alias=True) if isinstance(item, BaseModel) else to_json(item).decode()


def _list_text(model: Any, items: list[Any]) -> str:
    return adapter(list[model]).dump_json(items, by_alias=True).decode()


def _sizes(text: str) -> tuple[int, int]:
    """Bytes in the body and in the function's answer."""
    size = len(text.encode())
    return size, size + text.count('"') + text.count("\\")


def _location(route: Route, request: HttpRequest, body: Any) -> str:
    resource_id = str(getattr(body, "id", ""))
    path = route.location.format(id=resource_id) if route.location else f"{request.path}/{resource_id}"
    return request.base + path
