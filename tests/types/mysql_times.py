"""Types of MySQL for dates and times, with values at their edges."""

from collections.abc import Iterator

from tests.types.cases import MYSQL, POSTGRESQL, Case, Meaning

_N, _T = Meaning.NUMBER, Meaning.TIME

_GAP = "days that were left out in October 1582"
_DATES = ("'0001-01-01'", "'1000-01-01'", "'1970-01-01'", "'2026-02-28'", "'9999-12-31'")
_TIMESTAMPS = {
    "datetime": ("'1000-01-01 00:00:00'", "'2026-03-29 02:30:00'", "'9999-12-31 23:59:59'"),
    "timestamp": ("'1970-01-01 00:00:01'", "'2026-03-29 02:30:00'", "'2038-01-19 03:14:07'"),
}
_FRACTIONS = {
    "datetime(3)": ("'1000-01-01 00:00:00.001'", "'2026-03-29 02:30:00.120'", "'9999-12-31 23:59:59.999'"),
    "datetime(6)": ("'1000-01-01 00:00:00.000001'", "'2026-03-29 02:30:00.123456'", "'9999-12-31 23:59:59.999999'"),
    "timestamp(3)": ("'1970-01-01 00:00:01.001'", "'2038-01-19 03:14:07.999'"),
    "timestamp(6)": ("'1970-01-01 00:00:01.000001'", "'2026-03-29 02:30:00.123456'", "'2038-01-19 03:14:07.999999'"),
}


def _times() -> Iterator[Case]:
    yield Case(type="date", column="date", literals=_DATES, meaning=_T)
    yield Case(type="date", values=_GAP, column="date", literals=("'1582-10-10'",), meaning=_T)
    yield Case(type="datetime", values=_GAP, column="datetime", literals=("'1582-10-10 12:00:00'",), meaning=_T)
    yield Case(
        type="datetime",
        values="years below 1000",
        column="datetime",
        literals=("'0001-01-01 00:00:00'", "'0099-12-31 23:59:59'"),
        meaning=_T,
    )
    for name, literals in _TIMESTAMPS.items():
        yield Case(type=name, column=f"{name} NULL", literals=literals, meaning=_T)
    for name, literals in _FRACTIONS.items():
        values = f"with {name[-2]} digits of seconds"
        yield Case(type=name[:-3], values=values, column=f"{name} NULL", literals=literals, meaning=_T)
    for name, zero in (("date", ""), ("datetime", " 00:00:00"), ("timestamp", " 00:00:00")):
        yield from _zero_dates(name, zero)
    for name in ("datetime", "timestamp"):
        yield from _current(name)
    in_day, fractions = ("'00:00:00'", "'12:34:56'", "'23:59:59'"), ("'00:00:00.000001'", "'23:59:59.999999'")
    outside = {POSTGRESQL: ("interval", "text"), MYSQL: ("varchar(20)", "bigint")}
    yield Case(type="time", column="time", literals=in_day, meaning=_T)
    yield Case(
        type="time",
        values="with 3 digits of seconds",
        column="time(3)",
        literals=("'00:00:00.001'", "'23:59:59.120'"),
        meaning=_T,
    )
    yield Case(type="time", values="with 6 digits of seconds", column="time(6)", literals=fractions, meaning=_T)
    yield Case(
        type="time",
        values="times below 00:00:00",
        column="time",
        literals=("'-00:00:01'", "'-838:59:59'"),
        meaning=_T,
        others=outside,
    )
    yield Case(
        type="time",
        values="times from 24:00:00 on",
        column="time",
        literals=("'24:00:00'", "'838:59:59'"),
        meaning=_T,
        others=outside,
    )
    yield Case(type="year", column="year", literals=("1901", "2026", "2155"), meaning=_N)
    yield Case(type="year", values="years 0000", column="year", literals=("0",), meaning=_N)


def _zero_dates(name: str, zero: str) -> Iterator[Case]:
    # A timestamp is all zeros or none.
    days = ("0000-00-00",) if name == "timestamp" else ("0000-00-00", "2024-00-00", "2024-05-00")
    zeros = tuple(f"'{day}{zero}'" for day in days)
    values = f"zero dates ({', '.join(days[:2])})"
    columns = {
        "NULL": (values, f"{name} NULL"),
        "NOT NULL": (values, f"{name} NOT NULL"),
        "NOT NULL, with a default": (
            f"{values} in a column with a default",
            f"{name} NOT NULL DEFAULT '2001-02-03{zero.replace('00:00:00', '04:05:06')}'",
        ),
        "NOT NULL, with a zero date as default": (
            f"{values} in a column with a zero default",
            f"{name} NOT NULL DEFAULT '0000-00-00{zero}'",
        ),
    }
    for key, (label, column) in columns.items():
        type_ = f"{name} {key.partition(',')[0]}"
        yield Case(type=type_, values=label, column=column, literals=zeros, meaning=_T, lenient=True)


def _current(name: str) -> Iterator[Case]:
    """Columns that the server fills."""
    type_ = f"{name} that defaults to the current time"
    now = "DEFAULT CURRENT_TIMESTAMP{0} ON UPDATE CURRENT_TIMESTAMP{0}"
    yield Case(type=type_, column=f"{name}(6) NOT NULL {now.format('(6)')}", literals=None, meaning=_T)
    yield Case(
        type=type_,
        values="values without a fraction",
        column=f"{name} NOT NULL {now.format('')}",
        literals=None,
        meaning=_T,
    )
    yield Case(
        type=type_,
        values="values of a column that may be NULL",
        column=f"{name} NULL {now.format('')}",
        literals=None,
        meaning=_T,
    )


TIMES = tuple(_times())
