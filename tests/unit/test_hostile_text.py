"""What reads text of others refuses it in a known way, and takes time that grows with its length at most."""

import pytest
from hypothesis import HealthCheck, given, settings

from tests.support.hostile.hostile_text import READERS, pumped, quiet, texts, unexpected
from tests.support.hostile.patterns import LONG, MAX_GROWTH, SHORT, growth


@pytest.mark.parametrize("name", READERS)
def test_no_text_raises_anything_but_a_refusal(name: str) -> None:
    reader = READERS[name]

    @settings(max_examples=150, derandomize=True, database=None, deadline=None, suppress_health_check=list(HealthCheck))
    @given(texts(reader))
    def run(text: str) -> None:
        assert unexpected(reader, text) is None

    run()


@pytest.mark.parametrize("name", READERS)
def test_the_seeds_are_read_or_refused(name: str) -> None:
    assert [found for seed in READERS[name].seeds if (found := unexpected(READERS[name], seed))] == []


@pytest.mark.thorough
@pytest.mark.parametrize("name", READERS)
def test_the_time_for_a_long_text_grows_with_its_length(name: str) -> None:
    reader = READERS[name]
    times = {
        short[:20]: by
        for short, long in zip(pumped(reader, SHORT), pumped(reader, LONG), strict=True)
        if (by := growth(quiet(reader), short, long)) > MAX_GROWTH
    }
    assert times == {}
