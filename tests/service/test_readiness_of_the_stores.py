"""What `/ready` costs."""

from tests.support.apps.in_process_app import InProcessApp


def test_the_stores_are_asked_at_most_once_in_five_seconds(app: InProcessApp) -> None:
    calls = []
    for after in (0, 4, 1):
        app.clock.advance(after)
        app.interceptor.watch()
        app.services.ready()
        calls.append(len(app.interceptor.unwatch()))
    assert calls[0] > 0 < calls[2]
    assert calls[1] == 0
