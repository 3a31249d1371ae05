"""Notification channels: create, read, change and delete them, and send a test notification."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace

from chalicelib.domain.access import SYSTEM, RequestContext
from chalicelib.domain.alerts.channel import TEST_EVERY, Channel, ChannelProvider, ChannelValues, LastDelivery
from chalicelib.domain.alerts.notification import NotificationError
from chalicelib.domain.alerts.rule import MAX_CHANNELS
from chalicelib.domain.audit.record import Outcome as AuditOutcome
from chalicelib.domain.credentials import Secrets, without_blanks
from chalicelib.domain.plans.consequences import ConsequenceCode, consequence
from chalicelib.domain.search import EVERYTHING, Search
from chalicelib.errors import Conflict, Invalid, RateLimited, SecretMismatch, WriteConflict, fault
from chalicelib.kit.clock import Clock
from chalicelib.kit.ids import new_id
from chalicelib.kit.masking import Secret
from chalicelib.kit.pages import Page
from chalicelib.kit.retry import at_once
from chalicelib.notify.contract import (
    ATTEMPT_SECONDS,
    Accepted,
    CheckedConfig,
    Outcome,
    OutgoingMessage,
    Permanent,
    Sender,
)
from chalicelib.notify.errors import error
from chalicelib.notify.registry import PROVIDERS
from chalicelib.services.alerts.channel_states import ChannelState, channel_state
from chalicelib.services.registered import retried
from chalicelib.services.registry import Registry
from chalicelib.services.user_limits import UserLimits
from chalicelib.stores.alerts.group import AlertStores
from chalicelib.stores.documents import batch_find_readable
from chalicelib.stores.transaction import Transaction

_ATTEMPTS = 3
"""Of noting a test, when the channel is written at the same moment."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelService:
    stores: AlertStores
    registry: Registry
    senders: Mapping[ChannelProvider, Sender]
    limits: UserLimits
    clock: Clock

    def get(self, channel_id: str) -> Channel:
        """The channel; raises NotFound."""
        return self._with_deliveries([self.stores.channels.get(channel_id)])[0]

    def state(self, channel: Channel) -> ChannelState:
        """How it sends now. Raises StoreUnavailable."""
        gate = self.stores.gates.find_readable(channel.id)
        return channel_state(channel, gate, self.stores.notifications, self.clock())

    def list(self, *, limit: int, after: str | None, search: Search = EVERYTHING) -> Page[Channel]:
        page = self.stores.channels.search(search, limit=limit, after=after)
        return page.with_items(self._with_deliveries(page.items))

    def create(self, context: RequestContext, values: ChannelValues, secrets: Secrets) -> Channel:
        """Store a channel whose messages may go where its config, whose fields are `secrets`, says.

        Raises Invalid for missing fields and `URL_NOT_ALLOWED`; Conflict NAME_CONFLICT, or STATE_CONFLICT when there
        are `MAX_CHANNELS`.
        """
        checked = self._checked(values.provider, secrets)
        channel_id, now = context.fresh_id(), self.clock()
        # A repeated request finds the channel that the first one has created: it is not counted.
        page = self.stores.channels.list(limit=MAX_CHANNELS)
        others = [channel for channel in page.items if channel.id != channel_id]
        if len(others) + len(page.unreadable) >= MAX_CHANNELS:
            raise Conflict(f"There are {MAX_CHANNELS} channels, which is the limit. Delete one first.")
        transaction = Transaction()
        credentials = self.registry.vault.seal_new(transaction, self.stores.channels.noun, channel_id, checked.secrets)
        channel = Channel(
            **asdict(values),
            id=channel_id,
            credentials=credentials,
            mask=checked.mask,
            created_at=now,
            updated_at=now,
        )
        return self.registry.create(transaction, context, self.stores.channels, channel)

    @retried
    def update(self, context: RequestContext, channel_id: str, values: ChannelValues, secrets: Secrets) -> Channel:
        """Replace everything but blank secrets. The provider stays.

        Raises Invalid when stored secrets would be sent to another target; see `create` for the others.
        """
        before = self._current(context, channel_id)
        if values.provider is not before.provider:
            message = "A channel stays with its provider. Create another channel instead."
            raise Invalid.at("body", "provider", type_="immutable", message=message)
        given, mask, target = without_blanks(secrets), before.mask, PROVIDERS[before.provider].config.target
        # Without a new target nothing is sent elsewhere, and what was checked when it was stored is not checked again.
        if target is None or target in given:
            checked = self.senders[before.provider].check(given)
            given, mask = dict(checked.secrets), checked.mask
        if target in given and given[target] != self._stored(before).get(target):
            _require_all_again(before, given)
        transaction = Transaction()
        credentials = self.registry.vault.rotate(
            transaction, self.stores.channels.noun, before.id, before.credentials, given
        )
        after = replace(
            before,
            **asdict(values),
            credentials=credentials,
            mask=mask,
            version=before.version + 1,
            updated_at=self.clock(),
        )
        saved = self.registry.update(transaction, context, self.stores.channels, before, after)
        return self._with_deliveries([saved])[0]

    @retried
    def delete(self, context: RequestContext, channel_id: str) -> None:
        """Remove a channel that no rule names. Raises NotFound, VersionMismatch, Conflict RESOURCE_IN_USE."""
        channel, transaction = self._current(context, channel_id), Transaction()
        self.registry.vault.remove(transaction, channel.credentials)
        consequences = [consequence(ConsequenceCode.CREDENTIALS_ARE_DELETED)]
        self.registry.remove(transaction, context, self.stores.channels, channel, consequences=consequences)

    def test(self, context: RequestContext, channel_id: str) -> NotificationError | None:
        """Send the test notification once, now, as a delivery would be sent; nothing of it is stored but the audit.

        Returns why it was not delivered, None when it was.
        Raises NotFound; RateLimited within `TEST_EVERY` of the last one.
        """
        channel = at_once(_ATTEMPTS).run(lambda _: self._note_test(context, channel_id), on=WriteConflict)
        outcome = self._send_test(context, channel)
        failure = None if isinstance(outcome, Accepted) else outcome.error
        if isinstance(outcome, Accepted) and outcome.changed:
            self.replace_secrets(channel_id, outcome.changed)
        settled = AuditOutcome.FAILED if failure else AuditOutcome.SUCCESS
        shown = {"status": "failed" if failure else "delivered", "code": failure.code if failure else None}
        self.registry.audit.record_alone(
            context,
            f"{self.stores.channels.noun}.test",
            channel_id,
            resource_name=channel.name,
            outcome=settled,
            after=shown,
        )
        return failure

    def test_unsaved(
        self, context: RequestContext, provider: ChannelProvider, secrets: Secrets
    ) -> NotificationError | None:
        """Send the test notification once, now, to where a channel with these `secrets` would send; nothing is stored.

        Returns why it was not delivered, None when it was. Raises what `create` raises for the config, and RateLimited
        as for other tests of the user, and within `TEST_EVERY` of their last one with this provider.
        """
        with self.limits.test(context):
            checked = self._checked(provider, secrets)
            self.limits.pace(context, f"channel-test/{provider}", TEST_EVERY)
            outcome = self._send_now(context, provider, checked.secrets)
        return None if isinstance(outcome, Accepted) else outcome.error

    def replace_secrets(self, channel_id: str, changed: Mapping[str, Secret]) -> None:
        """Store secret fields that the provider has replaced, such as the id of a group that became another one.

        Audited as `notification_channel.migrate`, by the system. Raises NotFound, WriteConflict.
        """
        store, vault = self.stores.channels, self.registry.vault
        channel = store.get(channel_id)
        context, fields = RequestContext(actor=SYSTEM, correlation_id=new_id()), {"fields": sorted(changed)}
        with Transaction() as transaction:
            credentials = vault.rotate(transaction, store.noun, channel_id, channel.credentials, changed)
            after = replace(channel, credentials=credentials, version=channel.version + 1, updated_at=self.clock())
            store.save(transaction, after)
            self.registry.audit.record(
                transaction, context, f"{store.noun}.migrate", channel_id, resource_name=channel.name, after=fields
            )

    def _note_test(self, context: RequestContext, channel_id: str) -> Channel:
        """The channel, with the test noted in it: two requests at the same moment send one."""
        channel, now = self.stores.channels.get(channel_id), self.clock()
        if channel.tested_at and (left := (channel.tested_at + TEST_EVERY - now).total_seconds()) > 0:
            wait = min(math.ceil(left), int(TEST_EVERY.total_seconds()))
            message = "A test notification was sent a moment ago."
            raise RateLimited(message, retry_after_seconds=wait)
        with Transaction() as transaction:
            noted = self.stores.channels.save(transaction, replace(channel, tested_at=now))
            action, requested = f"{self.stores.channels.noun}.test", AuditOutcome.REQUESTED
            self.registry.audit.record(
                transaction, context, action, channel_id, resource_name=channel.name, outcome=requested
            )
        return noted

    def _send_test(self, context: RequestContext, channel: Channel) -> Outcome:
        try:
            secrets = self.registry.vault.open(channel.credentials)
        except SecretMismatch:
            return Permanent(error("secret_unreadable"))
        return self._send_now(context, channel.provider, secrets)

    def _send_now(self, context: RequestContext, provider: ChannelProvider, secrets: Mapping[str, Secret]) -> Outcome:
        message = OutgoingMessage(delivery_id=new_id(), attempt_at=self.clock(), lines=())
        return self.senders[provider].send(message, secrets, context.deadline.within(ATTEMPT_SECONDS))

    def _checked(self, provider: ChannelProvider, secrets: Secrets) -> CheckedConfig:
        """The config of a new channel. Raises Invalid for missing fields and `URL_NOT_ALLOWED`."""
        given = without_blanks(secrets)
        _require_all(PROVIDERS[provider].config.required, given)
        return self.senders[provider].check(given)

    def _stored(self, channel: Channel) -> Mapping[str, Secret]:
        """The stored secrets; none when they cannot be opened: then all of them have to be given again."""
        try:
            return self.registry.vault.open(channel.credentials)
        except SecretMismatch:
            return {}

    def _current(self, context: RequestContext, channel_id: str) -> Channel:
        channel = self.stores.channels.get(channel_id)
        context.expect_version(channel.version)
        return channel

    def _with_deliveries(self, channels: Sequence[Channel]) -> tuple[Channel, ...]:
        """With how the newest message of each ended."""
        gates = batch_find_readable(*((self.stores.gates, channel.id) for channel in channels))
        return tuple(
            replace(channel, last_delivery=LastDelivery(status=gate.last_status, at=gate.last_at))
            if gate and gate.last_status and gate.last_at
            else channel
            for channel, gate in zip(channels, gates, strict=True)
        )


def _require_all(required: Sequence[str], given: Mapping[str, Secret]) -> None:
    if missing := [name for name in required if name not in given]:
        raise _at_config(
            missing, "missing", f"The channel cannot send without these fields of config: {', '.join(missing)}."
        )


def _require_all_again(channel: Channel, given: Mapping[str, Secret]) -> None:
    """Raise Invalid when stored secrets would be sent to another target than before."""
    if missing := sorted(channel.credentials.fields.keys() - given.keys()):
        message = "This change would send the stored secrets to another place. Give them again with it: "
        raise _at_config(missing, "required_for_new_target", f"{message}{', '.join(missing)}.")


def _at_config(names: Sequence[str], kind: str, message: str) -> Invalid:
    return Invalid.of([fault("body", "config", name, type_=kind, message=message) for name in names])
