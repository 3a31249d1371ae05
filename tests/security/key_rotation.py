"""S5: what is sealed is bound to its place, and a key is exchanged while everybody reads.

Rows of secrets on DynamoDB Local, which 20 processes have sealed under a key of KMS (moto), move to another key, while
four processes read them at random. Takes about two and a half minutes of processor time.
"""

import base64
import os
import random
import threading
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any
from unittest.mock import patch

import boto3

from chalicelib.domain.credentials import SECRET_CLASSES, Credentials
from chalicelib.errors import HeadgateError
from chalicelib.kit.clock import Deadline
from chalicelib.kit.ids import new_id
from chalicelib.kit.log import get_logger
from chalicelib.kit.masking import Secret
from chalicelib.secrets.envelope import Envelope
from chalicelib.secrets.keys import CachedKeys
from chalicelib.stores.transaction import Transaction
from chalicelib.wiring import Services
from tests.security.figure import Figure
from tests.security.sealed_variants import things, variants
from tests.support.apps.call_interceptor import CallInterceptor
from tests.support.apps.in_process_app import SETTINGS
from tests.support.apps.tables import on_dynamodb_local
from tests.support.master_keys import local_keys
from tests.support.servers import dynamodb_local

ROWS, WRITERS, READERS, PER_TRANSACTION = 10_000, 20, 4, 50
RUN_SECONDS, _BETWEEN_READS = 45.0, 0.005
Expected = list[tuple[Credentials, str]]


@dataclass(frozen=True)
class CountedKms:
    """The client of KMS of one process: counts the calls for each key and class of secrets."""

    client: Any
    calls: Counter[tuple[str, object, str]] = field(default_factory=Counter)

    def generate_data_key(self, **asked: Any) -> Any:
        self.calls["GenerateDataKey", asked["KeyId"], asked["EncryptionContext"]["headgate"]] += 1
        return self.client.generate_data_key(**asked)

    def decrypt(self, **asked: Any) -> Any:
        self.calls["Decrypt", asked["CiphertextBlob"], asked["EncryptionContext"]["headgate"]] += 1
        return self.client.decrypt(**asked)


@dataclass
class Installation:
    """Processes on the same tables, each with its own caches and its own client of KMS."""

    kms: list[CountedKms] = field(default_factory=list)

    def process(self, *key_ids: str) -> Services:
        counted = CountedKms(boto3.client("kms"))
        self.kms.append(counted)
        with patch("chalicelib.wiring.clients._kms", lambda: counted):
            return Services(replace(SETTINGS, master_key=(), kms_key_id=key_ids))


@dataclass
class Reads:
    """What the readers saw: `failed` counts the errors by name, and wrong secrets."""

    done: int = 0
    failed: Counter[str] = field(default_factory=Counter)
    ended: threading.Event = field(default_factory=threading.Event)

    def read(self, services: Services, expected: Expected, seed: int) -> None:
        choose = random.Random(seed)
        while not self.ended.wait(_BETWEEN_READS):
            credentials, password = choose.choice(expected)
            try:
                opened = services.credentials.open(credentials)["password"].reveal()
            except HeadgateError as error:
                self.failed[type(error).__name__] += 1
            else:
                self.failed["another secret"] += opened != password
            self.done += 1


def figures() -> list[Figure]:
    get_logger().setLevel("CRITICAL")  # each refused variant is logged
    with dynamodb_local() as url, on_dynamodb_local(CallInterceptor(), url):
        rotation = _rotated_live()
    return [*rotation, _forged()]


def _rotated_live() -> list[Figure]:
    kms, installation = boto3.client("kms"), Installation()
    old, new = (kms.create_key()["KeyMetadata"]["Arn"] for _ in range(2))
    expected = [entry for _ in range(WRITERS) for entry in _sealed(installation.process(old), ROWS // WRITERS)]
    rotation = installation.process(new, old).key_rotation
    with _reading(installation, expected, new, old) as reads:
        runs = 1
        while rotation.run(Deadline.after(RUN_SECONDS)):
            runs += 1
        done = reads.done
    left = {key.key_id: key.sealed_fields for key in rotation.report(Deadline.after(60)).keys}[old]
    unreadable = _unreadable(installation.process(new), expected)
    calls = [count for process in installation.kms for count in process.calls.values()]
    failed = reads.failed.total()
    asked = f"calls to the key service for one key and class in 15 minutes ({sum(calls)} in all)"
    return [
        Figure(f"failed reads of {done} while {ROWS} rows were sealed again", str(failed), "0", not failed),
        Figure(f"fields left under the old key after {runs} runs", str(left), "0", not left),
        Figure("rows that do not open without the old key", str(unreadable), "0", not unreadable),
        Figure(asked, str(max(calls)), "at most 1", max(calls) <= 1),
    ]


def _sealed(services: Services, count: int) -> Iterator[tuple[Credentials, str]]:
    """New secrets, under data keys of this process's own."""
    kinds, transaction = list(SECRET_CLASSES), Transaction()
    for number in range(count):
        password = base64.b64encode(os.urandom(12)).decode()
        kind, resource_id = kinds[number % len(kinds)], new_id()
        secrets: Mapping[str, Secret] = {"password": Secret(password)}
        yield services.credentials.seal_new(transaction, kind, resource_id, secrets), password
        if number % PER_TRANSACTION == PER_TRANSACTION - 1 or number == count - 1:
            transaction.commit()
            transaction = Transaction()


@contextmanager
def _reading(installation: Installation, expected: Expected, *key_ids: str) -> Iterator[Reads]:
    reads = Reads()
    processes = [installation.process(*key_ids) for _ in range(READERS)]
    threads = [threading.Thread(target=partial(reads.read, one, expected, seed)) for seed, one in enumerate(processes)]
    with ExitStack() as ends:
        for thread in threads:
            thread.start()
            ends.callback(thread.join)
        ends.callback(reads.ended.set)
        yield reads


def _unreadable(services: Services, expected: Expected) -> int:
    """How many rows do not open in a process that knows the new key only."""
    rows = {one.id: one for one in services.stores.resources.secrets.with_ids(one.id for one, _ in expected)}
    found = 0
    for credentials, password in expected:
        try:
            opened = services.credentials.opened(credentials, rows[credentials.id])
        except HeadgateError:
            found += 1
        else:
            found += opened["password"].reveal() != password
    return found


def _forged() -> Figure:
    keys = [CachedKeys(local_keys()) for _ in range(2)]
    made = things(Envelope(*keys), Envelope(keys[1]))
    accepted = [variant.accepted for variant in variants(made, made)]
    name = f"forged variants refused of {len(accepted)} (swaps, rollbacks, bits, names) of {len(made)} sealed things"
    return Figure(name, f"{100 * accepted.count(False) / len(accepted):.4g} %", "100 %", not any(accepted))
