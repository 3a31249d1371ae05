"""Alert rules: which alerts are sent to which channels. One is there from the beginning, without channels."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace

from chalicelib.domain.access import SYSTEM, RequestContext
from chalicelib.domain.alerts.kinds import AlertSeverity
from chalicelib.domain.alerts.preview import MAX_PREVIEWED, PREVIEWED, RulePreview, preview
from chalicelib.domain.alerts.rule import DEFAULT_RULE_NAME, MAX_RULES, AlertRule, AlertRuleValues
from chalicelib.domain.plans.consequences import ConsequenceCode, consequence
from chalicelib.domain.plans.plan import Consequence
from chalicelib.domain.search import EVERYTHING, Search
from chalicelib.errors import Conflict
from chalicelib.kit.clock import Clock
from chalicelib.kit.ids import id_from, new_id
from chalicelib.kit.pages import Page
from chalicelib.services.alerts.references import require_existing
from chalicelib.services.registry import Links, Registry
from chalicelib.stores.alerts.group import AlertStores
from chalicelib.stores.documents import Readable
from chalicelib.stores.resources import ResourceStores
from chalicelib.stores.transaction import Transaction

DEFAULT_RULE_ID = id_from("alert_rule", "default")
_INSTALLED = "installed/default_alert_rule"
"""The claim that says that the default rule was made once. It stays when the rule is deleted."""


DEFAULT_RULE = AlertRuleValues(
    name=DEFAULT_RULE_NAME,
    description="Made at installation. It sends nothing until it has channels.",
    severities=(AlertSeverity.CRITICAL,),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertRuleService:
    """Create, read, change and delete rules. A channel counts the rules that name it, and cannot be deleted before."""

    stores: AlertStores
    resources: ResourceStores
    registry: Registry
    clock: Clock

    def install(self) -> None:
        """Create the default rule, once in the life of an installation: one that was deleted does not come back."""
        if self.resources.claims.find(_INSTALLED):
            return
        now, transaction = self.clock(), Transaction()
        rule = AlertRule(id=DEFAULT_RULE_ID, is_default=True, created_at=now, updated_at=now, **asdict(DEFAULT_RULE))
        self.resources.claims.take(transaction, _INSTALLED, rule.id, label="installation")
        with suppress(Conflict):  # another process is making it, or there is a rule of that name
            context = RequestContext(actor=SYSTEM, correlation_id=new_id())
            self.registry.create(transaction, context, self.stores.rules, rule)

    def get(self, rule_id: str) -> AlertRule:
        """Raises NotFound."""
        return self.stores.rules.get(rule_id)

    def list(self, *, limit: int, after: str | None, search: Search = EVERYTHING) -> Page[AlertRule]:
        return self.stores.rules.search(search, limit=limit, after=after)

    def create(self, context: RequestContext, data: AlertRuleValues) -> AlertRule:
        """Store a rule. Raises Conflict (also when there are `MAX_RULES`), Invalid for references to nothing.

        It knows nothing about earlier alerts: an episode that is under way is not reported by it.
        """
        # One more than the limit is read: a repeated request finds the rule that the first one has created.
        page = self.stores.rules.list(limit=MAX_RULES + 1)
        others = [rule for rule in page.items if rule.id != context.request_key]
        if len(others) + len(page.unreadable) >= MAX_RULES:
            raise Conflict(f"There are {MAX_RULES} rules, and no more are possible. Delete one first.")
        self._require(data, known=AlertRuleValues(name=data.name))
        now = self.clock()
        rule = AlertRule(id=context.fresh_id(), created_at=now, updated_at=now, **asdict(data))
        return self.registry.create(
            Transaction(), context, self.stores.rules, rule, links=self._links(rule), consequences=_consequences(rule)
        )

    def update(self, context: RequestContext, rule_id: str, data: AlertRuleValues) -> AlertRule:
        """Replace a rule. Whether it is the default rule stays. What it names already may have been deleted since.

        Raises NotFound, VersionMismatch, Conflict, Invalid for new references to nothing.
        """
        before = self.stores.rules.get(rule_id)
        context.expect_version(before.version)
        self._require(data, known=before)
        after = replace(before, version=before.version + 1, updated_at=self.clock(), **asdict(data))
        transaction = Transaction()
        for channel_id in sorted(set(after.channel_ids) ^ set(before.channel_ids)):
            change = +1 if channel_id in after.channel_ids else -1
            self.stores.channels.change_references(transaction, channel_id, change)
        return self.registry.update(
            transaction, context, self.stores.rules, before, after, consequences=_consequences(after)
        )

    def delete(self, context: RequestContext, rule_id: str) -> None:
        """Remove a rule. Raises NotFound, VersionMismatch, Conflict."""
        rule = self.stores.rules.get(rule_id)
        context.expect_version(rule.version)
        self.registry.remove(Transaction(), context, self.stores.rules, rule, links=self._links(rule))

    def preview(self, data: AlertRuleValues) -> RulePreview:
        """What a rule like this would have sent in the last seven days; see `domain.alerts.preview`. Stores nothing.

        Raises Invalid for references to nothing, in the field `rule` of the body.
        """
        self._require(data, "rule", known=AlertRuleValues(name=data.name))
        now = self.clock()
        return preview(data, self.stores.alerts.begun_since(now - PREVIEWED, limit=MAX_PREVIEWED), now)

    def _links(self, rule: AlertRule) -> Links:
        return Links(references=[(self.stores.channels, channel_id) for channel_id in rule.channel_ids])

    def _require(self, data: AlertRuleValues, *above: str, known: AlertRuleValues) -> None:
        """Raise Invalid REFERENCE_NOT_FOUND when something that is named, and is not known already, does not exist.

        `above` is where the rule is in the body.
        """
        stores: dict[str, Readable] = {
            "channel_ids": self.stores.channels,
            "source_ids": self.resources.sources,
            "pipeline_ids": self.resources.pipelines,
        }
        require_existing(stores, data, *above, known=known)


def _consequences(rule: AlertRule) -> Sequence[Consequence]:
    return () if rule.channel_ids else [consequence(ConsequenceCode.SENDS_NOTHING)]
