"""New credentials in one call: tested, stored, and brought to the connectors that use them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, fields, replace
from enum import StrEnum
from typing import Any

from chalicelib.domain.access import Permission, RequestContext
from chalicelib.domain.addresses import Address
from chalicelib.domain.cluster import ConnectCluster, StreamCluster
from chalicelib.domain.connection import Connection
from chalicelib.domain.connection_checks import CheckStatus, TestCheck, TestResult
from chalicelib.domain.credentials import Secrets, credentials_id, without_blanks
from chalicelib.domain.endpoint import OpenedEndpoint
from chalicelib.domain.health import Failure
from chalicelib.domain.kafka_sign_in import SIGN_IN
from chalicelib.domain.registered import Registered
from chalicelib.domain.usage import UsedBy, used_by
from chalicelib.errors import Conflict, HeadgateError, Invalid, TimedOut, VersionMismatch, fault
from chalicelib.kit.clock import Deadline
from chalicelib.services.clusters import LOOK_SECONDS
from chalicelib.services.connectors.outdated import OutdatedConnector, OutdatedConnectors
from chalicelib.services.registered import RegisteredInput
from chalicelib.services.system_checks import SystemChecks

LEAST_SECONDS = 6.0
"""No connector is changed with less time: its operation would end without an outcome."""

_NOT_READY = {"source": "SOURCE_NOT_READY"}
"""The code of a failed test by type; TARGET_NOT_READY for all others."""


class RotationResult(StrEnum):
    """Whether a connector has the new credentials, still has the old ones, or could not get the new ones."""

    UPDATED = "updated"
    OUTDATED = "outdated"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class RotatedConnector:
    """A pipeline or a delivery whose connector uses the credentials. `error` says why it was not updated."""

    resource: UsedBy
    result: RotationResult
    error: Failure | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Rotation:
    """The test of the new credentials, and what became of the connectors that use them."""

    test: TestResult
    connectors: Sequence[RotatedConnector]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rotated:
    """How one type of resource is read and changed: `update` takes an input of this type."""

    get: Callable[[str], Registered[Any]]
    update: Callable[[RequestContext, str, Any], object]
    input_type: type[RegisteredInput]


@dataclass(frozen=True, slots=True, kw_only=True)
class CredentialRotation:
    """Replaces the credentials of what is registered, by its type. `renew` gives a connector its config again, by the
    type of the resource that owns it.
    """

    rotated: Mapping[str, Rotated]
    renew: Mapping[str, Callable[[RequestContext, str], Any]]
    outdated: OutdatedConnectors
    system_checks: SystemChecks

    def rotate(
        self,
        context: RequestContext,
        noun: str,
        entity_id: str,
        secrets_for: Callable[[Any], Secrets],
        *,
        force: bool,
    ) -> Rotation:
        """Test the credentials and store them; then the deployed connectors that use them get their config again, one
        after another, as far as the time reaches.

        `secrets_for` makes the secrets for the address. Raises NotFound; Conflict for what has the
        credentials of a connection, and when it was changed meanwhile; Invalid without a secret, for one that the
        address does not take, and SOURCE_NOT_READY or TARGET_NOT_READY when the test fails: then nothing is stored,
        unless it is forced.
        """
        kind = self.rotated[noun]
        entity = kind.get(entity_id)
        _require_own(entity)
        secrets = secrets_for(entity.address)
        _require_fitting(entity.address, secrets)
        test = self._test(context, entity, secrets)
        if not test.success and not force:
            raise _not_ready(noun, test)
        _store(context, kind, entity, secrets)
        return Rotation(test=test, connectors=list(self._renew_all(context, noun, entity)))

    def _test(self, context: RequestContext, entity: Registered[Any], secrets: Secrets) -> TestResult:
        opened: OpenedEndpoint[Any] = self.system_checks.clients.open(entity.endpoint, secrets)
        if not isinstance(entity, ConnectCluster | StreamCluster):
            return self.system_checks.test_endpoint(context, opened)
        try:
            self._look(entity, opened, context.deadline.within(LOOK_SECONDS))
        except HeadgateError as error:
            check = TestCheck(name="connect", status=CheckStatus.FAILED, code=error.code, message=error.message)
        else:
            message = "The cluster answers with these credentials."
            check = TestCheck(name="connect", status=CheckStatus.SUCCESS, code=None, message=message)
        success = check.status is CheckStatus.SUCCESS
        return TestResult(success=success, checks=(check,), server_version=None, latency_ms=None)

    def _look(self, cluster: ConnectCluster | StreamCluster, opened: OpenedEndpoint[Any], deadline: Deadline) -> None:
        """Raises the error of a cluster that does not answer."""
        clients = self.system_checks.clients
        if isinstance(cluster, ConnectCluster):
            with closing(clients.make_connect(opened)) as connect:
                connect.root(deadline)
        else:
            with closing(clients.make_kafka(opened)) as kafka:
                kafka.cluster_id(deadline)

    def _renew_all(self, context: RequestContext, noun: str, entity: Registered[Any]) -> Iterator[RotatedConnector]:
        users = entity.used_by if isinstance(entity, Connection) else [used_by(noun, entity)]
        known = [user for user in users if user.type in self.outdated.owners]
        for connector in self.outdated.of(known, credentials_id=credentials_id(noun, entity.id)) or ():
            yield self._renew(context, connector)

    def _renew(self, context: RequestContext, connector: OutdatedConnector) -> RotatedConnector:
        resource = UsedBy(type=connector.type, id=connector.id, name=connector.name)
        if not context.actor.may(Permission.OPERATE):
            return self._not_renewed(resource, RotationResult.OUTDATED, _not_allowed())
        if context.deadline.remaining() < LEAST_SECONDS:
            return self._not_renewed(resource, RotationResult.OUTDATED, _no_time_left())
        try:
            renewed = self.renew[connector.type](replace(context, request_key=None), connector.id)
        except HeadgateError as error:
            return self._not_renewed(resource, RotationResult.FAILED, error)
        if renewed.open_operation:
            return self._not_renewed(resource, RotationResult.OUTDATED, _not_confirmed())
        return RotatedConnector(resource=resource, result=RotationResult.UPDATED)

    def _not_renewed(self, resource: UsedBy, result: RotationResult, error: HeadgateError) -> RotatedConnector:
        failure = Failure(code=error.code, message=error.message, at=self.system_checks.clock())
        return RotatedConnector(resource=resource, result=result, error=failure)


def _store(context: RequestContext, kind: Rotated, entity: Registered[Any], secrets: Secrets) -> None:
    """Raises Conflict when it was changed since it was read: the test was of something else."""
    same = {one.name: getattr(entity, one.name) for one in fields(kind.input_type) if one.name != "secrets"}
    data = kind.input_type(**same, secrets=secrets)
    try:
        kind.update(replace(context, if_match=entity.version), entity.id, data)
    except VersionMismatch as mismatch:
        raise Conflict("It was changed by somebody else at the same moment. Repeat this.") from mismatch


def _require_own(entity: Registered[Any]) -> None:
    """Raise Conflict for what has the credentials of a connection."""
    if connection_id := getattr(entity, "connection_id", None):
        raise Conflict(
            f"Its credentials are those of its connection. Send them to POST /connections/{connection_id}/credentials: "
            "all that use the connection get them."
        )


def _require_fitting(address: Address, secrets: Secrets) -> None:
    """Raise Invalid without any secret, and for secrets that the address does not take."""
    given = without_blanks(secrets).keys() - {SIGN_IN}  # made of the others, not given
    taken = ", ".join(sorted(address.SECRETS))
    if not given:
        raise Invalid.at("body", "credentials", type_="missing", message=f"Give at least one new secret of: {taken}.")
    if foreign := sorted(given - address.SECRETS):
        message = f"This system takes these secrets: {taken}."
        kind, allowed = "not_with_provider", sorted(address.SECRETS)
        raise Invalid.of(
            [fault("body", "credentials", name, type_=kind, message=message, allowed=allowed) for name in foreign]
        )


def _not_ready(noun: str, test: TestResult) -> Invalid:
    failed = next((check.message for check in test.checks if check.status is CheckStatus.FAILED), "")
    return Invalid(
        f"The new credentials do not work, so nothing was stored. {failed} Correct them, or store them all the same "
        "with force=true.",
        code=_NOT_READY.get(noun, "TARGET_NOT_READY"),
        details={"checks": [asdict(check) for check in test.checks]},
    )


def _not_allowed() -> Conflict:
    message = "Changing the connector needs the permission to operate. Its status says how to bring it up to date."
    return Conflict(message)


def _no_time_left() -> TimedOut:
    message = "There was no time left for this one. Deploy the pipeline, or send the mappings of the delivery again."
    return TimedOut(message)


def _not_confirmed() -> Conflict:
    message = "Kafka Connect has not confirmed this yet. Headgate finds out and finishes it."
    return Conflict(message, code="OPERATION_IN_PROGRESS")
