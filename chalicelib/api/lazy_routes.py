"""Which subject answers at which addresses, known without loading a single one.

A function serves one request at a time, and most containers meet few subjects: a cold start loads routes, models and
services of the subject that is asked for. Whoever walks through the routes (packaging, servers, OpenAPI) loads them
all. Not for threads before that was done; servers with threads do it at their start.
"""

from collections.abc import Callable, Iterable, Iterator, MutableMapping
from importlib import import_module
from typing import Any

from chalicelib.api.boundary import Boundary
from chalicelib.api.route import Route
from chalicelib.api.router import Router

Methods = dict[str, Any]
"""Chalice's entries of one path, by method."""


def routes_of(module: str, name: str = "routes") -> Router:
    """The routes that a module of this room has under that name. Loads it."""
    routes: Router = getattr(import_module(f"{__package__}.{module}"), name)
    return routes


class LazyRoutes:
    """Every route with its whole path, in the order in which the subjects were declared."""

    def __init__(self, app: Any, boundary: Boundary) -> None:
        """`app` is Chalice's; its table of routes becomes one that fills itself."""
        self._app, self._boundary = app, boundary
        self._subjects: list[_Subject] = []
        self._entries: MutableMapping[str, Methods] = app.routes
        app.routes = _Table(self._entries, self)

    def declare(self, prefix: str, segments: Iterable[str], load: Callable[[], Router]) -> None:
        """Mounts what `load` gives under the prefix, as soon as a path is asked for that begins with a segment."""
        self._subjects.append(_Subject(prefix, frozenset(segments), load))

    def near(self, path: str) -> tuple[str, ...]:
        """Every pattern that might fit the path, and others."""
        self.open(path)
        return tuple(self._entries)

    def open(self, path: str) -> None:
        """Mounts the subject that this path belongs to, if it waits."""
        for subject in self._subjects:
            if subject.waits and subject.has(path):
                self._mount(subject)

    def __iter__(self) -> Iterator[tuple[str, Route]]:
        for subject in self._subjects:
            if subject.waits:
                self._mount(subject)
            yield from subject.mounted

    def _mount(self, subject: "_Subject") -> None:
        """Raises `ValueError` for a route that would never be found."""
        routes = subject.load()
        subject.waits = False
        subject.mounted = routes.mount(self._app, subject.prefix, self._boundary)
        for path, _ in subject.mounted:
            if not subject.has(path):
                raise ValueError(f"{path}: its first segment is not declared for its subject")


class _Subject:
    def __init__(self, prefix: str, segments: frozenset[str], load: Callable[[], Router]) -> None:
        self.prefix, self.load = prefix, load
        self.waits = True
        self.mounted: list[tuple[str, Route]] = []
        self._segments = segments

    def has(self, path: str) -> bool:
        """Whether the path is this subject's, by the segment behind the prefix."""
        begins = path.startswith(self.prefix + "/")
        return begins and path[len(self.prefix) + 1 :].partition("/")[0] in self._segments


class _Table(MutableMapping[str, Methods]):
    """Chalice's table of routes: to look up a path loads its subject, to walk through the table loads all."""

    def __init__(self, entries: MutableMapping[str, Methods], site: LazyRoutes) -> None:
        self._entries, self._site = entries, site

    def __getitem__(self, path: str) -> Methods:
        if path not in self._entries:
            self._site.open(path)
        return self._entries[path]

    def __setitem__(self, path: str, methods: Methods) -> None:
        self._entries[path] = methods

    def __delitem__(self, path: str) -> None:
        del self._entries[path]

    def __contains__(self, path: object) -> bool:
        self._site.open(str(path))
        return path in self._entries

    def __iter__(self) -> Iterator[str]:
        for _ in self._site:
            pass
        return iter(self._entries)

    def __len__(self) -> int:
        return sum(1 for _ in self)
