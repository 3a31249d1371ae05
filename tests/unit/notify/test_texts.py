from datetime import timedelta
from html import unescape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chalicelib.domain.alerts.backlog import Backlog
from chalicelib.domain.alerts.digest import MAX_LINES
from chalicelib.domain.alerts.kinds import AlertSeverity
from chalicelib.domain.alerts.notification import MessageKind
from chalicelib.domain.event_kind import EventKind
from chalicelib.notify.bot_chat import sender as bot_chat
from chalicelib.notify.chat_webhook import sender as chat_webhook
from chalicelib.notify.contract import MessageLine
from chalicelib.notify.texts import DIGEST_LINES, TEST_TEXT, TextStyle, cut, duration, neutralize, render
from tests.support.alerting.notifications import DELIVERY_ID, NOW, content, message

PLAIN = TextStyle(max_size=100_000)
STYLES = [chat_webhook.STYLE, bot_chat.STYLE]
HOSTILE = "<!channel> & <b>_x_</b> 🙂 " * 500


def test_a_message_says_what_where_since_when_and_what_to_do() -> None:
    text = render(message(content(link="https://headgate.example.com/alerts/1")), PLAIN)
    assert text.splitlines() == [
        "[CRITICAL] Connector task failed (CONNECT_TASK_FAILED)",
        'Where: pipeline "orders", connector headgate-source-1, task 0, connect cluster "workers"',
        "Since: 2026-01-31 12:00:00 UTC",
        "What: A row does not fit a constraint of the target table.",
        "What to do: Correct the row or the constraint, then restart the task.",
        "https://headgate.example.com/alerts/1",
        f"Delivery {DELIVERY_ID[:8]}",
    ]


def test_a_message_says_how_much_waits_since_when_and_whether_anything_is_lost() -> None:
    alert = content(backlog=Backlog(records=1204), lost="Nothing is lost: the records wait.")
    text = render(message(alert), TextStyle(max_size=4_000))
    assert "What waits: 1,204 records, since 20" in text
    assert "Nothing is lost: the records wait." in text
    assert "What waits: not measured" in render(message(content(backlog=Backlog())), TextStyle(max_size=4_000))


def test_a_recovery_says_how_long_it_lasted() -> None:
    over = content(kind=MessageKind.RESOLVED, at=NOW + timedelta(seconds=3725), recovery_seconds=3725.4)
    text = render(message(over), PLAIN)
    assert text.startswith("[RESOLVED] Connector task failed")
    assert "Over since: 2026-01-31 13:02:05 UTC, after 1 h 2 min" in text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0 s"), (59.9, "59 s"), (60, "1 min"), (61, "1 min 1 s"), (3600, "1 h"), (90_061, "1 d 1 h")],
)
def test_a_length_of_time_has_two_units_at_most(seconds: float, text: str) -> None:
    assert duration(seconds) == text


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"muted_before": 1}, "1 muted"),
        ({"affected": 12}, "It causes 12 more alerts"),
    ],
)
def test_a_message_says_what_it_stands_for(changes: dict[str, int], expected: str) -> None:
    assert expected in render(message(content(**changes)), PLAIN)
    assert expected not in render(message(), PLAIN)


def test_a_message_says_that_it_is_late_over_again_or_follows_one_that_failed() -> None:
    over = content(kind=MessageKind.RESOLVED, at=NOW, recovery_seconds=60)
    lines = (MessageLine(content=content(), recovery=over, delayed=True, firing_failed=True),)
    text = render(message(lines=lines), PLAIN)
    assert "It is over again since 2026-01-31 12:00:00 UTC, after 1 min." in text
    assert "could not be delivered" in text
    assert "This message is late" in text


@pytest.mark.parametrize("style", STYLES)
def test_a_hostile_error_is_literal_below_the_limit_and_whole_at_its_ends(style: TextStyle) -> None:
    text = render(message(content(error=HOSTILE, hint=HOSTILE, pipeline_name=HOSTILE)), style)
    assert style.size(text) <= style.max_size
    assert style.size(text) > style.max_size * 0.9
    assert text.endswith(f"Delivery {DELIVERY_ID[:8]}")
    assert style.escape(unescape(text)) == text or style is bot_chat.STYLE
    assert text.encode("utf-16-le", "strict")


def test_a_chat_gets_no_markup_of_its_own() -> None:
    text = render(message(content(error=HOSTILE)), chat_webhook.STYLE)
    assert "<" not in text
    assert "&lt;!channel&gt; &amp; &lt;b&gt;_x_&lt;/b&gt;" in text


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("@channel", False),
        ("see @here now", False),
        ("https://evil.example/x", False),
        ("www.evil.example", False),
        ("ftp://evil.example", False),
        ("t.me/joinchat", False),
        ("evil.example", False),
        ("see EVIL.Example:8443, now", False),
        ("evil.xn--p1ai", False),
        ("evil.рф", False),
        ("evil\u3002example", False),
        ("user@db.example", False),
        ("public.orders", False),
        ("10:30 a/b", True),
        ("18.4 of 1.5 MB. It is over.", True),
        ("public.order_items", True),
        ("table orders_2024_q1, 100 %", True),
    ],
)
def test_no_mention_and_no_link_works(text: str, same: bool) -> None:
    assert (neutralize(text) == text) is same
    assert neutralize(text).replace("\u200b", "") == text


def test_an_error_stays_one_line_and_reads_from_left_to_right() -> None:
    assert neutralize("a\nb\r\x1b[31m\u202ec\ud800") == "a b  [31m c "


@given(text=st.text(), most=st.integers(1, 50))
def test_a_cut_text_is_not_longer_than_it_may_be(text: str, most: int) -> None:
    short = cut(text, most)
    assert len(short) <= most
    assert short == text or short.endswith("…")
    assert text.startswith(short.removesuffix("…"))


@pytest.mark.parametrize(
    ("text", "most", "expected"), [("ae\u0301x", 3, "a…"), ("a👨‍👩‍👧x", 4, "a…"), ("👍🏽x", 2, "…")]
)
def test_a_character_of_several_parts_is_not_cut(text: str, most: int, expected: str) -> None:
    assert cut(text, most) == expected


@given(st.lists(st.text(max_size=4000), min_size=4, max_size=4))
def test_no_message_is_over_a_limit(texts: list[str]) -> None:
    error, hint, pipeline, connector = texts
    one = content(error=error, hint=hint, pipeline_name=pipeline, connector_name=connector, emitter_name=pipeline)
    for style in STYLES:
        for sent in (message(one), message(*[one] * MAX_LINES, waiting=9_950)):
            text = render(sent, style)
            assert style.size(text) <= style.max_size


def test_a_digest_counts_all_names_the_first_and_says_what_it_leaves_out() -> None:
    contents = [content(task_id=number, link="https://h.example/alerts/" + content().alert_id) for number in range(40)]
    warnings = [content(severity=AlertSeverity.WARNING, event=EventKind.PIPELINE_DEGRADED) for _ in range(7)]
    over = [content(kind=MessageKind.RESOLVED, recovery_seconds=60) for _ in range(3)]
    text = render(message(*contents, *warnings, *over, waiting=77), PLAIN)
    lines = text.splitlines()
    assert lines[:3] == [
        "[DIGEST] 47 alerts, 3 recoveries",
        "By severity: 40 critical, 7 warning",
        "By kind: 43 CONNECT_TASK_FAILED, 7 PIPELINE_DEGRADED",
    ]
    assert [f"task {number}," in line for number, line in enumerate(lines[3:13])] == [True] * DIGEST_LINES
    assert lines[13:] == [
        "40 more are counted above and not listed here.",
        "77 more wait for a later message.",
        "https://h.example/alerts",
        f"Delivery {DELIVERY_ID[:8]}",
    ]


def test_the_test_notification_has_a_fixed_text() -> None:
    assert render(message(lines=()), PLAIN) == TEST_TEXT
