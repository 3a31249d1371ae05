"""Case 40 over HTTP, with 60 tasks; `python -m tests.bench.alert_storm` has the 10,000."""

from collections import Counter

import pytest

from tests.support.alerting_api import BOT, CHAT, AlertingApi, Json

TASKS = 60


def statuses(world: AlertingApi) -> Counter[str]:
    return Counter(world.ok("GET", "/alerts/summary")["by_status"])


def deliveries(world: AlertingApi) -> Counter[tuple[str, str, str]]:
    """How many messages there are, by channel, kind and status."""
    found: Counter[tuple[str, str, str]] = Counter()
    for alert in world.alerts():
        rows = world.read(alert)["deliveries"]
        found.update((row["channel_id"], row["kind"], row["status"]) for row in rows)
    return found


@pytest.mark.thorough
def test_when_all_tasks_fail_at_once_each_is_said_once_in_a_digest_and_its_recovery_too(world: AlertingApi) -> None:
    """Case 40."""
    limits: dict[str, Json] = {CHAT: {"per_second": 4}, BOT: {"per_minute": 20}}
    channels = [world.channel(provider, latency=0.2, **limit) for provider, limit in limits.items()]
    world.rule(*channels)
    for kind, failing in (("firing", TASKS), ("resolved", 0)):
        began = world.driver.now
        world.report(*(world.task_failed(number) for number in range(failing)), after=0)
        assert statuses(world)["firing"] == failing
        world.run(300)
        for channel in channels:
            provider = world.provider(channel)
            calls = [one for one in provider.received if one.at >= began]
            said = Counter(line.content.alert_id for one in calls for line in one.message.lines)
            assert (calls[0].at - began).total_seconds() < 60
            assert (len(said), set(said.values()), provider.too_fast) == (TASKS, {1}, 0)
            assert {line.content.kind for one in calls for line in one.message.lines} == {kind}
            assert any(one.message.is_digest for one in calls)
    assert statuses(world) == Counter(resolved=TASKS)
    assert deliveries(world) == {
        (channel["id"], kind, "delivered"): TASKS for channel in channels for kind in ("firing", "resolved")
    }
