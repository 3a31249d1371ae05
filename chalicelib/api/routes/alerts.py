"""Routes of alerts, alert rules and metrics."""

from chalicelib.api.contract.alert_rules import (
    AlertRuleBody,
    AlertRuleOutput,
    RulePreviewBody,
    RulePreviewOutput,
    alert_rule_definition,
)
from chalicelib.api.contract.alerts import (
    AcknowledgeBody,
    AlertDetailOutput,
    AlertOutput,
    AlertPageOutput,
    AlertQuery,
    AlertSummaryOutput,
    SilenceBody,
)
from chalicelib.api.contract.channels import (
    ChannelBody,
    ChannelDetailOutput,
    ChannelOutput,
    ChannelTestBody,
    TestSendOutput,
    channel_definition,
)
from chalicelib.api.contract.searches import SearchQuery
from chalicelib.api.contract.views import Definition, ViewQuery
from chalicelib.api.framework.authentication import require_token
from chalicelib.api.framework.http import HttpRequest, TextResponse
from chalicelib.api.framework.route import UuidPath
from chalicelib.api.framework.router import Router
from chalicelib.domain.access import Permission, RequestContext
from chalicelib.domain.alerts.alert import Alert
from chalicelib.domain.alerts.channel import Channel
from chalicelib.kit.pages import Page
from chalicelib.wiring import services

METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8"

routes = Router(tag="Monitoring")
metrics_routes = Router(tag="System")


@routes.get("/alerts/summary", needs=Permission.READ)
def get_alert_summary(context: RequestContext) -> AlertSummaryOutput:
    """Count alerts, and show the newest ten."""
    return AlertSummaryOutput.of(services().alerting.alerts.summary(context))


@routes.get("/alerts", needs=Permission.READ)
def list_alerts(context: RequestContext, query: AlertQuery) -> AlertPageOutput:
    """List alerts, newest first, by page. Resolved ones are kept for thirty days."""
    page = services().alerting.alerts.list(context, query.to_filter(), page=query.page, page_size=query.page_size)
    items = [AlertOutput.of(alert) for alert in page.items]
    return AlertPageOutput(items=items, page=query.page, page_size=query.page_size, total=page.total)


@routes.get("/alerts/{uuid}", needs=Permission.READ)
def get_alert(uuid: UuidPath) -> AlertDetailOutput:
    """Show an alert with its history and its messages."""
    return _detail(services().alerting.alerts.get(uuid))


@routes.post("/alerts/{uuid}/acknowledge", needs=Permission.OPERATE)
def acknowledge_alert(
    context: RequestContext, uuid: UuidPath, body: AcknowledgeBody | None = None
) -> AlertDetailOutput:
    """Say that somebody deals with it. It is not over by that, and a silence ends. Repeating it is no error."""
    return _detail(services().alerting.alerts.acknowledge(context, uuid, body.note if body else None))


@routes.post("/alerts/{uuid}/silence", needs=Permission.OPERATE)
def silence_alert(context: RequestContext, uuid: UuidPath, body: SilenceBody | None = None) -> AlertDetailOutput:
    """Send nothing about this alert, for a time or until it is unsilenced. It is still observed and counted."""
    return _detail(services().alerting.alerts.silence(context, uuid, (body or SilenceBody()).to_silence()))


@routes.post("/alerts/{uuid}/unsilence", needs=Permission.OPERATE)
def unsilence_alert(context: RequestContext, uuid: UuidPath) -> AlertDetailOutput:
    """End the silence: the alert is acknowledged again if it was, else it fires. Without a silence nothing changes."""
    return _detail(services().alerting.alerts.unsilence(context, uuid))


@routes.get("/alert-rules", needs=Permission.READ)
def list_alert_rules(query: SearchQuery) -> Page[AlertRuleOutput | Definition]:
    """List alert rules, newest first."""
    page = services().alerting.rules.list(limit=query.limit, after=query.after, search=query.to_search())
    return page.map(query.rendering(AlertRuleOutput.of, alert_rule_definition))


@routes.post("/alert-rules", needs=Permission.ADMINISTER, status=201, has_dry_run=True)
def create_alert_rule(context: RequestContext, body: AlertRuleBody) -> AlertRuleOutput:
    """Create a rule. It is about what begins from now on."""
    return AlertRuleOutput.of(services().alerting.rules.create(context, body.to_values()))


@routes.post("/alert-rules/preview", needs=Permission.ADMINISTER)
def preview_alert_rule(body: RulePreviewBody) -> RulePreviewOutput:
    """Show what a rule would have sent in the last seven days. Nothing is stored or sent.

    It is decided from the alerts that have begun since then (the newest 1,000), by the selections and the cooldown of
    the rule, as if it had been made seven days ago, were enabled, and had a channel. An episode counts once, by the
    worst severity that it had, however many channels the rule has. What another alert of the rule stood for, what a
    maintenance window kept back, and recoveries do not count.
    """
    return RulePreviewOutput.of(services().alerting.rules.preview(body.rule.to_values()))


@routes.get("/alert-rules/{uuid}", needs=Permission.READ)
def get_alert_rule(uuid: UuidPath, query: ViewQuery) -> AlertRuleOutput | Definition:
    """Show an alert rule."""
    return query.rendering(AlertRuleOutput.of, alert_rule_definition)(services().alerting.rules.get(uuid))


@routes.put("/alert-rules/{uuid}", needs=Permission.ADMINISTER, has_dry_run=True)
def update_alert_rule(context: RequestContext, uuid: UuidPath, body: AlertRuleBody) -> AlertRuleOutput:
    """Replace an alert rule. No alert changes by that."""
    return AlertRuleOutput.of(services().alerting.rules.update(context, uuid, body.to_values()))


@routes.delete("/alert-rules/{uuid}", needs=Permission.ADMINISTER, has_dry_run=True)
def delete_alert_rule(context: RequestContext, uuid: UuidPath) -> None:
    """Delete an alert rule. The default rule is not made again."""
    services().alerting.rules.delete(context, uuid)


@routes.get("/notification-channels", needs=Permission.READ)
def list_channels(query: SearchQuery) -> Page[ChannelOutput | Definition]:
    """List notification channels, newest first."""
    page = services().alerting.channels.list(limit=query.limit, after=query.after, search=query.to_search())
    return page.map(query.rendering(ChannelOutput.of_channel, channel_definition))


@routes.post("/notification-channels", needs=Permission.ADMINISTER, status=201, has_dry_run=True)
def create_channel(context: RequestContext, body: ChannelBody) -> ChannelDetailOutput:
    """Create a notification channel. Nothing is sent; its address is checked."""
    return _channel_detail(services().alerting.channels.create(context, *body.to_input()))


@routes.post("/notification-channels/test", needs=Permission.ADMINISTER)
def test_unsaved_channel(context: RequestContext, body: ChannelTestBody) -> TestSendOutput:
    """Send the test notification, once, within ten seconds, to where a channel with this config would send.

    Nothing is stored. One that is not delivered is `200` with the reason. A user sends at most one in five seconds with
    each provider.
    """
    return TestSendOutput.of(services().alerting.channels.test_unsaved(context, *body.to_input()))


@routes.get("/notification-channels/{uuid}", needs=Permission.READ)
def get_channel(uuid: UuidPath, query: ViewQuery) -> ChannelDetailOutput | Definition:
    """Show a notification channel, and how it sends now."""
    return query.rendering(_channel_detail, channel_definition)(services().alerting.channels.get(uuid))


@routes.put("/notification-channels/{uuid}", needs=Permission.ADMINISTER, has_dry_run=True)
def update_channel(context: RequestContext, uuid: UuidPath, body: ChannelBody) -> ChannelDetailOutput:
    """Replace a notification channel. Blank secrets stay, unless the URL that they are sent to changes."""
    return _channel_detail(services().alerting.channels.update(context, uuid, *body.to_input()))


@routes.delete("/notification-channels/{uuid}", needs=Permission.ADMINISTER, has_dry_run=True)
def delete_channel(context: RequestContext, uuid: UuidPath) -> None:
    """Delete a notification channel that no alert rule names."""
    services().alerting.channels.delete(context, uuid)


@routes.post("/notification-channels/{uuid}/test", needs=Permission.ADMINISTER)
def test_channel(context: RequestContext, uuid: UuidPath) -> TestSendOutput:
    """Send the test notification, once, within ten seconds. One that is not delivered is `200` with the reason.

    At most one in five seconds for each channel.
    """
    return TestSendOutput.of(services().alerting.channels.test(context, uuid))


@metrics_routes.get("/metrics", needs=Permission.PUBLIC, any_query=True, also=(401,))
def get_metrics(context: RequestContext, request: HttpRequest) -> TextResponse:
    """Numbers for Prometheus, of pipelines, deliveries, clusters, alerts and notifications.

    With `HEADGATE_METRICS_TOKEN` set, it asks for that as a bearer token.

    They are read at most once in five seconds.
    """
    require_token(request.headers, services().settings.metrics_token)
    text = services().recent_metrics.get(lambda: services().metrics.text(context.deadline))
    return TextResponse(text=text, media_type=METRICS_TYPE)


def _channel_detail(channel: Channel) -> ChannelDetailOutput:
    return ChannelDetailOutput.of_state(channel, services().alerting.channels.state(channel))


def _detail(alert: Alert) -> AlertDetailOutput:
    return AlertDetailOutput.of_all(alert, services().alerting.alerts.deliveries(alert.id))
