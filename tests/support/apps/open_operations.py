"""Operations that were left open by a process that ended."""

from collections.abc import Callable

from tests.support.apps.call_interceptor import Crash, InterceptedCall, Point, Side
from tests.support.apps.in_process_app import InProcessApp


def left_open(app: InProcessApp, request: Callable[[], object]) -> None:
    """The process of this request ends when its first change at Connect was carried out; then another one goes on."""

    def ends(point: Point, call: InterceptedCall) -> object:
        result = call()
        if point.side is Side.CONNECT and point.writes:
            raise Crash
        return result

    app.interceptor.watch(ends)
    try:
        request()
    except Crash:
        app.restart()
    else:
        raise AssertionError("the request has changed nothing at Connect")
    finally:
        app.interceptor.unwatch()
