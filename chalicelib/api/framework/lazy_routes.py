"""Route modules that are loaded when one of their addresses is requested.

A function serves one request at a time, and most containers serve few kinds of them: a cold start loads the routes,
models and services of one route module. Iterating over the routes (packaging, servers, OpenAPI) loads all modules.
Loading is not thread-safe: servers with threads iterate over the routes when they start.
"""

from collections.abc import Callable, Iterable, Iterator, MutableMapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from chalicelib.api.framework.boundary import Boundary
from chalicelib.api.framework.route import Route
from chalicelib.api.framework.router import Router
from chalicelib.api.framework.unknown_paths import nearest_template, segments_of
from chalicelib.kit.similar import nearest

Methods = dict[str, Any]
"""Chalice's entries for one path, by method."""


def routes_of(module: str, name: str = "routes") -> Router:
    """The routes that a module of `chalicelib.api.routes` has under that name. Loads the module."""
    routes: Router = getattr(import_module(f"chalicelib.api.routes.{module}"), name)
    return routes


class LazyRoutes:
    """Every route with its full path, in the order in which the route modules were declared."""

    def __init__(self, app: Any, boundary: Boundary) -> None:
        """Replaces the table of routes of `app`, which is Chalice's, by one that loads modules."""
        self._app, self._boundary = app, boundary
        self._modules: list[_RouteModule] = []
        self._table: MutableMapping[str, Methods] = app.routes
        app.routes = _LazyTable(self._table, self)

    def declare(self, prefix: str, segments: Iterable[str], load: Callable[[], Router]) -> None:
        """Adds a module: `load` returns the routes of the paths `<prefix>/<segment>...`."""
        self._modules.append(_RouteModule(prefix, frozenset(segments), load))

    def candidates(self, path: str) -> tuple[str, ...]:
        """Patterns that include every one that matches the path."""
        self.load_for(path)
        return tuple(self._table)

    def nearest(self, path: str) -> str | None:
        """The template of a documented route that this unknown path was probably meant for; None when none is near.
        Loads the modules of one first segment.
        """
        segments, names = segments_of(path), {name for module in self._modules for name in module.segments}
        first = segments[0] if segments and segments[0] in names else nearest(segments[0] if segments else "", names)
        if first is None:
            return None
        for module in self._modules:
            self.load_for(f"{module.prefix}/{first}")
        shown = (known for module in self._modules for known, route in module.mounted or () if not route.hidden)
        return nearest_template([first, *segments[1:]], shown)

    def load_for(self, path: str) -> None:
        for module in self._modules:
            if module.mounted is None and module.serves(path):
                self._mount(module)

    def __iter__(self) -> Iterator[tuple[str, Route]]:
        for module in self._modules:
            yield from self._mount(module) if module.mounted is None else module.mounted

    def _mount(self, module: "_RouteModule") -> list[tuple[str, Route]]:
        """Raises `ValueError` for a route that could never be found."""
        routes = module.load()
        # Registering a route looks its path up, which must not load the module again.
        module.mounted = []
        module.mounted = routes.mount(self._app, module.prefix, self._boundary)
        for path, _ in module.mounted:
            if not module.serves(path):
                raise ValueError(f"{path}: its first segment is not declared for its module")
        return module.mounted


@dataclass(slots=True)
class _RouteModule:
    """`mounted` is None until the module is loaded."""

    prefix: str
    segments: frozenset[str]
    load: Callable[[], Router]
    mounted: list[tuple[str, Route]] | None = None

    def serves(self, path: str) -> bool:
        below_prefix = path.startswith(self.prefix + "/")
        return below_prefix and path[len(self.prefix) + 1 :].partition("/")[0] in self.segments


class _LazyTable(MutableMapping[str, Methods]):
    """Chalice's table of routes: looking up a path loads its module, iterating loads all."""

    def __init__(self, table: MutableMapping[str, Methods], lazy_routes: LazyRoutes) -> None:
        self._table, self._lazy_routes = table, lazy_routes

    def __getitem__(self, path: str) -> Methods:
        if path not in self._table:
            self._lazy_routes.load_for(path)
        return self._table[path]

    def __contains__(self, path: object) -> bool:
        # Not by `__getitem__`: chalice's table is a defaultdict, which would make the entry.
        self._lazy_routes.load_for(str(path))
        return path in self._table

    def __setitem__(self, path: str, methods: Methods) -> None:
        self._table[path] = methods

    def __delitem__(self, path: str) -> None:
        del self._table[path]

    def __iter__(self) -> Iterator[str]:
        for _ in self._lazy_routes:
            pass
        return iter(self._table)

    def __len__(self) -> int:
        return sum(1 for _ in self)
