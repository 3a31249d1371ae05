"""Topics that tables share."""

from chalicelib.domain.table import TableName, colliding_topics


def test_names_that_become_one_topic_collide() -> None:
    a, b, c = TableName("s", "a b"), TableName("s", "a_b"), TableName("s", "ab")
    assert colliding_topics([a, b, c]) == {a: (b,), b: (a,)}
    assert colliding_topics([TableName("a.b", "c"), TableName("a", "b.c")])
