"""An exchange of the master key of an app: its sealed fields, its keys, and faults in the middle."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace

from chalicelib.domain.credentials import SECRET_CLASSES, Credentials
from chalicelib.errors import StoreUnavailable
from chalicelib.kit.clock import Deadline
from chalicelib.kit.masking import Secret
from chalicelib.secrets.keys import LocalKeys
from chalicelib.stores.transaction import Transaction
from tests.faults.failure_modes import StoreDown
from tests.support.apps.call_interceptor import Crash, FailureMode, InterceptedCall, Point
from tests.support.apps.in_process_app import SETTINGS, InProcessApp
from tests.support.master_keys import new_master_key

OLD_KEY = SETTINGS.master_key[0]
NEW_KEY = new_master_key()
OLD_ID, NEW_ID = LocalKeys(OLD_KEY).key_id, LocalKeys(NEW_KEY).key_id
SealedCredentials = Mapping[str, tuple[Credentials, Mapping[str, str]]]
"""Credentials by the type of their resource, with their plain values."""


def use(app: InProcessApp, *master_keys: Secret, kms: tuple[str, ...] = ()) -> None:
    """Go on in another process, with these keys."""
    app.settings = replace(SETTINGS, master_key=master_keys, kms_key_id=kms)
    app.restart()


def run(app: InProcessApp, seconds: float = 50) -> int:
    """Seal again; returns how many rows."""
    return app.services.key_rotation.run(Deadline.after(seconds))


def report(app: InProcessApp) -> list[tuple[str, bool, bool, int]]:
    """Of each key its id, whether it seals, whether it opens, and the fields under it."""
    keys = app.services.key_rotation.report(Deadline.after(20)).keys
    return [(key.key_id, key.seals, key.opens, key.sealed_fields) for key in keys]


def fields_under(app: InProcessApp) -> dict[str, int]:
    return {key_id: fields for key_id, _, _, fields in report(app) if fields}


def credentials_of_each_class(app: InProcessApp) -> SealedCredentials:
    """Credentials of every class, by the type of their resource, with their plain values."""
    sealed = {}
    for kind in SECRET_CLASSES:
        values = {name: Secret(f"{kind} {name}") for name in ("password", "ca_certificate")}
        with Transaction() as transaction:
            credentials = app.services.credentials.seal_new(transaction, kind, f"id of {kind}", values)
        sealed[kind] = (credentials, {name: value.reveal() for name, value in values.items()})
    return sealed


def opens_all(app: InProcessApp, resources: SealedCredentials) -> bool:
    return all(
        {name: value.reveal() for name, value in app.services.credentials.open(credentials).items()} == values
        for credentials, values in resources.values()
    )


def _before(_point: Point, _call: InterceptedCall) -> object:
    raise Crash


def _after(_point: Point, call: InterceptedCall) -> object:
    call()
    raise Crash


def _lost_reply(_point: Point, call: InterceptedCall) -> object:
    call()
    raise StoreDown


def _refused(_point: Point, _call: InterceptedCall) -> object:
    raise StoreDown


def _late(_point: Point, call: InterceptedCall) -> object:
    _delayed.append(call)
    raise StoreDown


_delayed: list[InterceptedCall] = []
FAULTS: tuple[FailureMode, ...] = (_before, _after, _lost_reply, _refused, _late)
"""A crash before a call and after it; a call whose reply is lost, that is refused, or that comes after the next run."""


def fault_at_every_call(app: InProcessApp, fault: FailureMode) -> int:
    """Exchange the key once for each call that a run makes, with the fault at that call. Everything opens after it, and
    the next run does the rest. Returns the number of calls.
    """
    resources, key = credentials_of_each_class(app), app.services.signer.key
    use(app, NEW_KEY, OLD_KEY)
    start = app.snapshot()
    app.interceptor.watch()
    app.services.key_rotation.run(Deadline.after(50))
    calls = len(app.interceptor.unwatch())
    for at in range(calls):
        app.restore(start)
        app.interceptor.watch(lambda point, call, at=at: fault(point, call) if point.number == at else call())
        with suppress(Crash, StoreUnavailable):
            app.services.key_rotation.run(Deadline.after(50))
        app.interceptor.unwatch()
        use(app, NEW_KEY, OLD_KEY)
        assert opens_all(app, resources), at
        run(app)
        while _delayed:
            _delayed.pop()()
        assert fields_under(app) == {NEW_ID: 15}, at
        use(app, NEW_KEY)
        assert opens_all(app, resources), at
        assert app.services.signer.key == key
        use(app, NEW_KEY, OLD_KEY)
    return calls
