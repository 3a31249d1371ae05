"""The forty cases of the test plan of alerting, and the tests that show them over HTTP.

Names are those of a module here and of a function in it. `MORE` are tests below HTTP that look at every value, every
order or every crash of the same case.
"""

from collections.abc import Mapping

_API, _ALERTS, _CHANNELS = (
    "integration/api/alerting",
    "integration/api/test_alert_moves",
    "integration/api/test_channels",
)
_MANAGER, _SERVICES, _NOTIFY = "unit/alerting", "unit/services/alerts", "unit/notify"
_CRASHES = f"{_SERVICES}/test_delivery_crashes"
_EPISODES, _COOLDOWN, _OPERATORS = f"{_API}/test_episodes", f"{_API}/test_cooldown", f"{_API}/test_operators"
_DELIVERY, _ADDRESSES, _STORM = f"{_API}/test_delivery", f"{_API}/test_channel_addresses", f"{_API}/test_storm"

CASES: Mapping[int, tuple[str, ...]] = {
    1: (f"{_EPISODES}::test_a_failed_connector_is_one_alert_one_row_and_one_message_of_eight_keys",),
    2: (f"{_EPISODES}::test_the_same_failure_in_five_further_cycles_is_the_same_alert_with_one_message",),
    3: (f"{_EPISODES}::test_a_report_that_comes_again_is_not_counted",),
    4: (f"{_EPISODES}::test_each_task_is_an_alert_of_its_own",),
    5: (f"{_EPISODES}::test_two_destinations_of_one_pipeline_are_two_alerts",),
    6: (f"{_EPISODES}::test_the_same_connector_name_on_two_clusters_is_two_alerts",),
    7: (f"{_EPISODES}::test_two_first_observations_at_the_same_moment_are_one_alert",),
    8: (f"{_OPERATORS}::test_the_first_who_acknowledges_is_named_and_the_second_is_in_the_history",),
    9: (f"{_OPERATORS}::test_an_acknowledged_alert_is_counted_and_sends_nothing_until_its_recovery",),
    10: (f"{_OPERATORS}::test_an_acknowledged_alert_is_counted_and_sends_nothing_until_its_recovery",),
    11: (f"{_OPERATORS}::test_a_message_that_was_not_sent_when_its_alert_is_silenced_is_suppressed",),
    12: (
        f"{_EPISODES}::test_a_failure_while_silenced_is_counted_and_its_end_sends_nothing",
        f"{_EPISODES}::test_a_recovery_after_a_silence_that_began_when_the_message_had_arrived_sends_nothing",
    ),
    13: (f"{_OPERATORS}::test_the_end_of_a_silence_returns_to_what_was_before_and_sends_nothing",),
    14: (f"{_OPERATORS}::test_a_silence_that_ends_before_anything_was_sent_is_followed_by_exactly_one_message",),
    15: (f"{_OPERATORS}::test_a_resolved_alert_is_not_moved",),
    16: (
        f"{_ALERTS}::test_an_unknown_alert_is_not_found",
        f"{_ALERTS}::test_a_bad_silence_is_refused_with_its_place_and_without_what_was_sent",
    ),
    17: (f"{_COOLDOWN}::test_a_recurrence_inside_the_cooldown_is_a_new_alert_without_messages",),
    18: (
        f"{_COOLDOWN}::test_a_recurrence_at_the_end_of_the_cooldown_says_how_many_episodes_were_muted",
        f"{_COOLDOWN}::test_one_second_before_the_end_of_the_cooldown_nothing_is_sent",
    ),
    19: (f"{_COOLDOWN}::test_three_episodes_in_five_minutes_are_sent_as_the_policy_says",),
    20: (f"{_COOLDOWN}::test_three_episodes_in_five_minutes_are_sent_as_the_policy_says",),
    21: (f"{_EPISODES}::test_a_severity_that_becomes_critical_is_the_same_alert_and_its_first_message",),
    22: (f"{_COOLDOWN}::test_a_message_that_was_refused_starts_no_cooldown",),
    23: (f"{_EPISODES}::test_an_observation_from_before_the_recovery_that_comes_late_changes_nothing",),
    24: (f"{_EPISODES}::test_while_connect_is_out_of_reach_there_is_one_alert_more_and_no_other_changes",),
    25: (f"{_DELIVERY}::test_after_three_failures_of_the_provider_the_fourth_attempt_delivers",),
    26: (f"{_DELIVERY}::test_after_four_failures_a_message_has_failed_and_no_alert_is_about_that",),
    27: (f"{_DELIVERY}::test_a_refusal_is_final_after_one_call",),
    28: (f"{_DELIVERY}::test_a_provider_that_asks_to_wait_is_not_called_before_and_what_waits_uses_up_no_attempt",),
    29: (f"{_DELIVERY}::test_a_channel_that_hangs_does_not_delay_another_one",),
    30: (f"{_DELIVERY}::test_a_worker_that_dies_after_the_provider_has_accepted_repeats_the_same_message_once",),
    31: (f"{_DELIVERY}::test_the_same_wake_up_ten_times_for_two_workers_is_one_call",),
    32: (f"{_DELIVERY}::test_a_lost_wake_up_costs_little_more_than_a_minute",),
    33: (f"{_DELIVERY}::test_a_group_that_became_another_one_gets_the_message_there_and_the_channel_knows",),
    34: (f"{_DELIVERY}::test_a_hostile_error_is_plain_text_within_the_limit_for_every_provider",),
    35: (
        f"{_ADDRESSES}::test_no_forbidden_address_can_be_stored",
        f"{_ADDRESSES}::test_public_addresses_can_be_stored",
    ),
    36: (f"{_ADDRESSES}::test_a_name_that_has_become_private_is_not_contacted",),
    37: (
        f"{_ADDRESSES}::test_only_the_address_that_was_checked_is_contacted",
        f"{_ADDRESSES}::test_a_redirect_is_not_followed",
    ),
    38: (f"{_CHANNELS}::test_a_config_that_cannot_work_is_refused_where_it_is_wrong",),
    39: (
        f"{_ADDRESSES}::test_a_secret_stays_until_another_one_is_given_and_is_shown_nowhere",
        f"{_CHANNELS}::test_no_secret_of_a_channel_is_anywhere_but_where_it_is_sent",
    ),
    40: (f"{_STORM}::test_when_all_tasks_fail_at_once_each_is_said_once_in_a_digest_and_its_recovery_too",),
}

MORE: Mapping[int, tuple[str, ...]] = {
    7: (f"{_MANAGER}/test_manager_recording::test_two_managers_with_the_first_failure_open_one_alert",),
    18: (f"{_MANAGER}/test_manager_cooldown::test_the_messages_of_the_timeline",),
    22: (f"{_MANAGER}/test_manager_cooldown::test_a_message_that_has_reached_nobody_starts_no_cooldown",),
    24: (f"{_MANAGER}/test_manager_endings::test_a_monitor_that_sees_nothing_neither_resolves_nor_raises",),
    27: (f"{_NOTIFY}/test_bot_chat::test_a_refusal_is_final_and_has_its_own_code",),
    30: (
        f"{_CRASHES}::test_wherever_a_worker_dies_the_message_is_delivered_within_90_seconds_and_repeated_once_at_most",
    ),
    31: (f"{_SERVICES}/test_interleavings::test_two_workers_send_a_message_once_whatever_the_order_of_their_steps",),
    35: ("integration/test_ssrf::test_no_forbidden_form_is_stored_or_leads_to_a_connection",),
    40: (f"{_SERVICES}/test_digests::test_a_storm_for_two_chats_is_said_in_minutes_and_each_alert_once",),
}
