"""A thread that runs only while its owner waits for it, so that many of them run one at a time, in a chosen order."""

import threading
from collections.abc import Callable

from tests.support.apps.call_interceptor import Crash


class SteppedThread:
    """Runs `action` until it parks or ends, each time that it is resumed."""

    current = threading.local()

    def __init__(self, owner: object, action: Callable[[], None]) -> None:
        self.owner = owner
        self._action, self._started = action, False
        self._may_run, self._stopped = threading.Semaphore(0), threading.Semaphore(0)
        self.runs, self.is_dead = True, False
        self.error: BaseException | None = None

    def resume(self) -> None:
        """Begin, or go on where it is parked."""
        if self._started:
            self._may_run.release()
        else:
            self._started = True
            threading.Thread(target=self._run, daemon=True).start()
        self._stopped.acquire()

    def park(self) -> None:
        """Called by the thread itself: its owner goes on."""
        self._stopped.release()
        self._may_run.acquire()
        if self.is_dead:
            raise Crash

    def kill(self) -> None:
        """The thread ends where it is parked. What is behind that in `finally` must make no call."""
        self.is_dead = True
        self.resume()

    def _run(self) -> None:
        SteppedThread.current.thread = self
        try:
            self._action()
        except Crash:
            pass
        except BaseException as error:  # noqa: BLE001 - raised again by the owner
            self.error = error
        finally:
            self.runs = False
            self._stopped.release()


def current_thread(owner: object) -> SteppedThread | None:
    """The one that calls; None for the test itself, and for the threads of another owner."""
    thread = getattr(SteppedThread.current, "thread", None)
    return thread if thread is not None and thread.owner is owner else None
