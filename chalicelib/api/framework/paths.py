"""Finds the route of a path as API Gateway does, for gateways that are not API Gateway.

Chalice's own local matcher has no greedy routes, leaks captures of failed candidates and answers 403 to an unknown
path. This one is used by the local runner, by tests, and by `chalice local`.
"""

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any
from urllib.parse import parse_qs

from chalicelib.api.framework.http import FALLBACK


@dataclass(slots=True)
class _Node:
    literals: dict[str, "_Node"] = field(default_factory=dict)
    variable: "tuple[str, _Node] | None" = None
    greedy: tuple[str, str] | None = None
    pattern: str | None = None


@dataclass(frozen=True, slots=True)
class Match:
    """The pattern of a path and the values of its variables, still percent-encoded."""

    pattern: str
    values: Mapping[str, str]


class PathTrie:
    """Patterns by segment; a literal precedes `{x}`, and `{x}` precedes `{x+}`. A trailing slash is ignored."""

    def __init__(self, patterns: Iterable[str]) -> None:
        self._root = _Node()
        for pattern in patterns:
            self._add(pattern)

    def match(self, path: str) -> Match | None:
        """The best pattern for a raw path without query, or None."""
        return _find(self._root, _segments(path), {})

    def _add(self, pattern: str) -> None:
        node = self._root
        for segment in _segments(pattern):
            if segment.endswith("+}"):
                node.greedy = (segment[1:-2], pattern)
                return
            if segment.startswith("{"):
                node = _variable(node, segment, pattern)
            else:
                node = node.literals.setdefault(segment, _Node())
        node.pattern = pattern


def _variable(node: _Node, segment: str, pattern: str) -> _Node:
    name = segment[1:-1]
    if node.variable is None:
        node.variable = (name, _Node())
    if node.variable[0] != name:
        # API Gateway refuses two names for one position, and only at deployment.
        raise ValueError(f"{pattern}: this position is already called {{{node.variable[0]}}}")
    return node.variable[1]


def _segments(path: str) -> list[str]:
    return path.removesuffix("/").split("/")[1:]


def _find(node: _Node, segments: list[str], values: dict[str, str]) -> Match | None:
    if not segments:
        return Match(node.pattern, values) if node.pattern else None
    head, rest = segments[0], segments[1:]
    if head in node.literals and (match := _find(node.literals[head], rest, values)):
        return match
    if node.variable and head:
        name, child = node.variable
        if match := _find(child, rest, {**values, name: head}):
            return match
    if node.greedy:
        name, pattern = node.greedy
        return Match(pattern, {**values, name: "/".join(segments)})
    return None


@lru_cache(maxsize=8)
def trie_of(patterns: tuple[str, ...]) -> PathTrie:
    """The trie of these patterns, built once. Raises `ValueError` when two patterns name one position differently."""
    return PathTrie(patterns)


class EventMaker:
    """Makes the event that API Gateway would send to the function. Replaces chalice's `LambdaEventConverter`."""

    def __init__(self, route_matcher: Any, binary_types: Collection[str] | None = None) -> None:
        """`route_matcher` is chalice's, used for its `route_urls` only. No body of a request is binary."""
        self._trie = trie_of(tuple(route_matcher.route_urls))

    def create_lambda_event(
        self,
        method: str,
        path: str,
        headers: Mapping[str, str],
        body: bytes | None = None,
        source_address: str = "127.0.0.1",
    ) -> dict[str, Any]:
        """The proxy event for a request target (`path` with its query), as chalice's `Request` reads it."""
        bare, _, query = path.partition("?")
        bare = re.sub("^https?://[^/]*", "", bare) or "/"
        match = self._trie.match(bare)
        # An unknown path gets our own 404, and chalice would answer `OPTIONS` itself.
        if match is None or method == "OPTIONS":
            match = Match(FALLBACK, {"proxy": bare[1:]})
        return {
            "resource": match.pattern,
            "path": bare,
            "httpMethod": method,
            "headers": {name.lower(): value for name, value in headers.items()},
            "pathParameters": dict(match.values),
            "multiValueQueryStringParameters": parse_qs(query, keep_blank_values=True) or None,
            "stageVariables": None,
            "requestContext": {
                "httpMethod": method,
                "resourcePath": match.pattern,
                "path": bare,
                "identity": {"sourceIp": source_address},
            },
            "body": body,
            "isBase64Encoded": False,
        }
