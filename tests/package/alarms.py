"""Breaks an installation on AWS in each way in which it has to raise an alarm: python -m tests.package.alarms

Prints a line for each way: the alarm that rises first, and after how many minutes. Ends with 1 when one takes longer
than five minutes or none rises, or when one rises where nothing is broken.
"""

import logging
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from typing import Any
from unittest.mock import patch

import boto3
from moto.core.models import botocore_stubber

from chalicelib.domain.alerts.channel import ChannelProvider, ChannelValues
from chalicelib.domain.alerts.rule import AlertRuleValues
from chalicelib.kit.masking import Secret
from infra.local.process.ports import free_port
from tests.faults.failure_modes import StoreDown
from tests.package.cloud import Cloud, cloud_on
from tests.support.apps.call_interceptor import InterceptedCall, Point, Side
from tests.support.apps.cheap_passwords import cheap_passwords
from tests.support.apps.in_process_app import SETTINGS, InProcessApp, in_process_app
from tests.support.apps.tables import REGION

HEALTHY_MINUTES = 3
"""Before something breaks."""

MAX_MINUTES = 5
Break = Callable[[Cloud], AbstractContextManager[object]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The alarms that rose first, and after how many minutes; none within MAX_MINUTES."""

    fault: str
    alarms: tuple[str, ...]
    minutes: int

    def __str__(self) -> str:
        names = ", ".join(self.alarms) or "none"
        return f"{self.fault:<16} {self.minutes:>2} min  {names}"


def run(fault: str) -> Result:
    """Break a new installation in one way."""
    with cheap_passwords(), in_process_app() as app, cloud_on(prepared(app)) as cloud:
        early = {name for _ in range(HEALTHY_MINUTES) for name in cloud.run_minute()}
        assert not early, f"alarms while nothing was broken: {early}"
        with FAULTS[fault](cloud):
            for minute in range(1, MAX_MINUTES + 1):
                if risen := cloud.run_minute():
                    return Result(fault=fault, alarms=tuple(risen), minutes=minute)
    return Result(fault=fault, alarms=(), minutes=MAX_MINUTES)


def prepared(app: InProcessApp) -> InProcessApp:
    """With keys of KMS, a pipeline that runs, and a chat that cannot be reached."""
    kms = boto3.client("kms", region_name=REGION)
    sealing = kms.create_key()["KeyMetadata"]["KeyId"]
    signing = kms.create_key(KeySpec="HMAC_256", KeyUsage="GENERATE_VERIFY_MAC")["KeyMetadata"]["KeyId"]
    chat = f"localhost:{free_port()}"
    app.settings = replace(
        SETTINGS, master_key=(), kms_key_id=(sealing,), audit_kms_key_id=signing, chat_webhook_host=chat
    )
    app.restart()
    app.deployed_pipeline()
    values = ChannelValues(name="chat", provider=ChannelProvider.CHAT_WEBHOOK)
    secrets = {"webhook_url": Secret(f"https://{chat}/services/T000/B000/token")}
    channel = app.services.alerting.channels.create(app.context(), values, secrets)
    app.services.alerting.rules.create(app.context(), AlertRuleValues(name="all", channel_ids=(channel.id,)))
    return app


@contextmanager
def store_away(cloud: Cloud) -> Iterator[None]:
    """DynamoDB answers nothing."""

    def refuse(point: Point, call: InterceptedCall) -> object:
        if point.side is Side.STORE:
            raise StoreDown
        return call()

    cloud.app.interceptor.watch(refuse)
    try:
        yield
    finally:
        cloud.app.interceptor.unwatch()


@contextmanager
def denied(cloud: Cloud, *, target: str, table: str = "") -> Iterator[None]:
    """AWS denies one action to new containers, on one table or on all there is."""
    answer = botocore_stubber.process_request

    def deny(request: Any) -> Any:
        name = request.headers.get("X-Amz-Target", b"")
        text = name.decode() if isinstance(name, bytes) else name
        if text.endswith(target) and table in str(request.body):
            return 400, {}, '{"__type": "AccessDeniedException", "message": "no"}'
        return answer(request)

    cloud.app.restart()
    with patch.object(botocore_stubber, "process_request", deny):
        yield


@contextmanager
def schedule_off(cloud: Cloud) -> Iterator[None]:
    """The rule of EventBridge is disabled."""
    cloud.schedule = False
    yield


@contextmanager
def throttled(cloud: Cloud) -> Iterator[None]:
    """AWS Lambda does not run ticks, because others take all of the account's concurrency."""
    cloud.throttled = {"run_tick"}
    yield


@contextmanager
def webhook_down(cloud: Cloud) -> Iterator[None]:
    """Kafka Connect is lost, and the chat that would say so is, too."""
    with cloud.app.connect_down():
        yield


@contextmanager
def trail_changed(cloud: Cloud) -> Iterator[None]:
    """Somebody deletes a record of the audit trail that was signed."""
    table = boto3.resource("dynamodb", region_name=REGION).Table("headgate-audit")
    names = [key["AttributeName"] for key in table.key_schema]
    record = table.scan()["Items"][0]
    table.delete_item(Key={name: record[name] for name in names})
    yield


FAULTS: Mapping[str, Break] = {
    "nothing": lambda _cloud: nullcontext(),
    "store away": store_away,
    "key denied": lambda cloud: denied(cloud, target="Decrypt"),
    "schedule off": schedule_off,
    "throttled": throttled,
    "tick raises": lambda cloud: denied(cloud, target="UpdateItem", table="headgate-observations"),
    "webhook down": webhook_down,
    "trail changed": trail_changed,
}


def is_told(result: Result) -> bool:
    """Whether somebody is told in time: of everything but nothing."""
    return bool(result.alarms) is not (result.fault == "nothing")


def main() -> int:
    """Runs all; returns the exit code."""
    logging.disable(logging.CRITICAL)
    results = [run(fault) for fault in FAULTS]
    for result in results:
        print(result)
    return 0 if all(map(is_told, results)) else 1


if __name__ == "__main__":
    sys.exit(main())
