"""The forty cases of the test plan of alerting, and the tests that show them.

Names are those of a module below `tests` and of a function in it. A rule is shown where that is cheapest; the answers
over HTTP are shown once for each route.
"""

import ast
from functools import cache
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[2]
_MANAGER, _SERVICES = "service/alerts/manager", "service/alerts"
_RECORDING, _ENDINGS = f"{_MANAGER}/test_recording", f"{_MANAGER}/test_endings"
_EPISODES, _COOLDOWN = f"{_MANAGER}/test_moves", f"{_MANAGER}/test_cooldown"
_DELIVERY, _CRASHES, _OPERATORS = (
    f"{_SERVICES}/test_delivery",
    f"{_SERVICES}/test_delivery_crashes",
    f"{_SERVICES}/test_alerts",
)
_API, _MOVES, _CHANNELS = (
    "integration/api/test_alerting",
    "integration/api/test_alert_moves",
    "integration/api/test_channels",
)
_ADDRESSES, _NOTIFY = "integration/test_ssrf", "unit/notify"

CASES: dict[int, tuple[str, ...]] = {
    1: (f"{_API}::test_a_failed_connector_is_one_alert_one_row_and_one_message_of_eight_keys",),
    2: (f"{_EPISODES}::test_the_same_failure_in_five_further_cycles_is_counted_and_sends_nothing",),
    3: (f"{_EPISODES}::test_a_report_that_comes_twice_counts_once",),
    4: ("unit/domain/alerts/test_event::test_these_are_two_alerts",),
    5: (f"{_API}::test_two_destinations_of_one_pipeline_are_two_alerts",),
    6: ("unit/domain/alerts/test_event::test_these_are_two_alerts",),
    7: (f"{_RECORDING}::test_two_managers_with_the_first_failure_open_one_alert",),
    8: (f"{_MOVES}::test_acknowledging_twice_is_no_error_and_the_first_stays",),
    9: ("unit/domain/alerts/test_transitions::test_no_observation_changes_what_an_operator_has_decided",),
    10: (f"{_EPISODES}::test_a_recovery_resolves_and_sends_one_message_after_the_first",),
    11: (f"{_DELIVERY}::test_a_silenced_alert_is_not_sent",),
    12: (f"{_EPISODES}::test_a_silenced_alert_recovers_without_a_message_and_its_history_says_so",),
    13: (
        "unit/domain/alerts/test_transitions::test_the_end_of_a_silence_returns_to_what_was_decided_before",
        f"{_EPISODES}::test_nothing_is_sent_after_a_silence_if_somebody_was_notified_before",
    ),
    14: (f"{_EPISODES}::test_a_silence_that_has_kept_back_the_only_message_is_followed_by_one_message",),
    15: (f"{_OPERATORS}::test_a_resolved_alert_cannot_be_moved",),
    16: (
        f"{_MOVES}::test_an_unknown_alert_is_not_found",
        f"{_MOVES}::test_a_bad_silence_is_refused_with_its_place_and_without_what_was_sent",
    ),
    17: (f"{_COOLDOWN}::test_the_messages_of_the_timeline",),
    18: (
        "unit/domain/alerts/test_cooldown::test_why_a_message_is_held_back",
        f"{_COOLDOWN}::test_the_next_message_says_how_many_episodes_were_muted",
    ),
    19: (f"{_COOLDOWN}::test_the_messages_of_the_timeline",),
    20: (f"{_COOLDOWN}::test_the_messages_of_the_timeline",),
    21: (f"{_EPISODES}::test_the_first_message_may_come_with_the_raise",),
    22: (f"{_COOLDOWN}::test_a_message_that_has_reached_nobody_starts_no_cooldown",),
    23: (f"{_ENDINGS}::test_an_observation_that_is_older_than_the_recovery_is_ignored",),
    24: (
        f"{_API}::test_while_connect_is_out_of_reach_there_is_one_alert_more_and_no_other_changes",
        f"{_ENDINGS}::test_a_monitor_that_sees_nothing_neither_resolves_nor_raises",
    ),
    25: (f"{_DELIVERY}::test_a_failure_for_a_while_is_tried_again_after_5_and_30_and_120_seconds",),
    26: (f"{_DELIVERY}::test_after_four_failures_it_has_failed",),
    27: (
        f"{_DELIVERY}::test_a_refusal_is_final_after_one_call",
        f"{_NOTIFY}/bot_chat/test_sender::test_a_refusal_is_final_and_has_its_own_code",
        f"{_NOTIFY}/webhook/test_sender::test_a_refusal_is_final",
    ),
    28: (f"{_DELIVERY}::test_a_limit_of_the_provider_stops_the_channel_and_uses_up_no_attempt_of_what_waits",),
    29: (f"{_DELIVERY}::test_a_channel_that_hangs_does_not_delay_another_one",),
    30: (
        f"{_CRASHES}::test_a_worker_that_dies_after_the_provider_has_accepted_repeats_the_same_message_once",
        f"{_CRASHES}::test_wherever_a_worker_dies_the_message_is_delivered_within_90_seconds_and_repeated_once_at_most",
    ),
    31: (
        f"{_DELIVERY}::test_the_same_wake_up_ten_times_for_two_workers_is_one_call",
        f"{_SERVICES}/test_interleavings::test_two_workers_send_a_message_once_whatever_the_order_of_their_steps",
    ),
    32: (f"{_CRASHES}::test_a_lost_wake_up_costs_a_minute_at_most",),
    33: (
        f"{_DELIVERY}::test_a_group_that_became_another_one_is_stored_in_the_channel",
        f"{_SERVICES}/test_channels::test_a_group_that_became_another_one_is_stored_and_audited",
    ),
    34: (
        f"{_NOTIFY}/test_texts::test_a_hostile_error_is_literal_below_the_limit_and_whole_at_its_ends",
        f"{_NOTIFY}/webhook/test_sender::test_an_error_is_sent_as_it_is_up_to_a_limit",
    ),
    35: (
        f"{_ADDRESSES}::test_no_forbidden_form_is_stored_or_leads_to_a_connection",
        f"{_ADDRESSES}::test_no_legal_form_is_refused",
        f"{_CHANNELS}::test_a_webhook_that_is_not_on_the_public_network_is_refused",
    ),
    36: (f"{_ADDRESSES}::test_a_name_that_was_public_when_it_was_stored_is_not_contacted_once_it_is_private",),
    37: (
        f"{_ADDRESSES}::test_the_address_that_was_checked_is_the_one_that_is_contacted",
        "unit/clients/http/test_guarded::test_a_redirect_is_not_followed",
    ),
    38: (f"{_CHANNELS}::test_a_config_that_cannot_work_is_refused_where_it_is_wrong",),
    39: (
        f"{_API}::test_a_secret_stays_until_another_one_is_given_and_is_shown_nowhere",
        f"{_CHANNELS}::test_no_secret_of_a_channel_is_anywhere_but_where_it_is_sent",
    ),
    40: (f"{_SERVICES}/test_digests::test_a_storm_for_two_chats_is_said_in_minutes_and_each_alert_once",),
}  # fmt: skip


@cache
def functions(module: str) -> frozenset[str]:
    """The functions of a module, by its path below `tests`."""
    tree = ast.parse((TESTS / f"{module}.py").read_text())
    return frozenset(node.name for node in tree.body if isinstance(node, ast.FunctionDef))


def test_there_is_a_test_for_each_of_the_forty_cases() -> None:
    assert list(CASES) == list(range(1, 41))


@pytest.mark.parametrize("name", sorted({name for names in CASES.values() for name in names}))
def test_each_test_of_the_table_exists(name: str) -> None:
    module, _, function = name.partition("::")
    assert function in functions(module)
