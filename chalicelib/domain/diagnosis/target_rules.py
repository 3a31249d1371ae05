"""Messages about the target's tables and about the rows that are written to them.

Sources: the PostgreSQL and MySQL manuals' error lists, the JDBC sinks of Debezium 3.6 and Confluent, Kafka Connect 4.3.
"""

from chalicelib.domain.diagnosis.diagnoses import Diagnosis, Rules

_CANCELLED = (
    *("canceling statement due to user request", "query execution was interrupted"),
    *("canceling statement due to statement timeout", "maximum statement execution time exceeded"),
    "max_statement_time exceeded",
)

TARGET_RULES: Rules = (
    # The destination's schema.
    (
        Diagnosis.NO_DEFAULT,
        *("not optional but has no default", "not optional and does not have a default value"),
        "field is not optional and does not have",
    ),
    (
        Diagnosis.NO_EVOLUTION,
        *("schema evolution is disabled", "failed to find column", "cannot create table"),
        *("auto-evolution is disabled", "auto-creation is disabled", "is missing fields"),
    ),
    (
        Diagnosis.TABLE_GONE,
        *('relation "" does not exist', 'column "" does not exist', 'column "" of relation "" does not exist'),
        *('schema "" does not exist', "table ' doesn't exist", "unknown column '", "unknown table '"),
    ),
    (Diagnosis.TABLE_EXISTS, 'relation "" already exists', "table ' already exists"),
    (
        Diagnosis.COLUMN_COUNT,
        *("more expressions than target columns", "more target columns than expressions"),
        "column count doesn't match value count",
    ),
    (Diagnosis.TARGET_MISSING, "could not find table", "failed to find table", "target table…does not exist"),
    (
        Diagnosis.NO_TARGET_TYPE,
        *('type "" does not exist', "failed to resolve column type for schema", "does not support schema type"),
    ),
    (Diagnosis.NO_TARGET_FUNCTION, "function…does not exist"),
    (Diagnosis.NO_MAPPING, "type doesn't have a mapping to the sql", "no binder found for"),
    (
        Diagnosis.GENERATED,
        *("cannot insert a non-default value into column", "can only be updated to default"),
        "value specified for generated column",
    ),
    (
        Diagnosis.TOO_WIDE,
        *("specified key was too long", "row size too large", "key specification without a key length"),
        *("tables can have at most", "too many columns", "too big precision", "too big scale"),
        *("column length too big", "display width out of range"),
    ),
    (
        Diagnosis.NEEDS_KEY,
        *("create or change a table without a primary key", "table type requires a primary key"),
        "requirements by an external plugin",
    ),
    (Diagnosis.NO_VALUE, "field ' doesn't have a default value"),
    (
        Diagnosis.TYPE_MISMATCH,
        *("is of type…but expression is of type", "cannot be cast automatically", "invalid input syntax for"),
        *("invalid input value for enum", "malformed array literal", "operator does not exist"),
    ),
    (
        Diagnosis.NO_KEY,
        *("no key fields defined", "no unique or exclusion constraint matching", "primary key mode"),
        *("primary.key.mode", "pk mode for table", "requires records with a non-null key"),
        *("requires key field names to be known", "require primary keys to support delete"),
    ),
    (Diagnosis.NO_SCHEMA, "null schema", "schemas.enable requires", "requires records with a non-null struct"),
    (Diagnosis.VALUE_TOO_LONG, "streamconstraintsexception", "streamreadconstraints"),
    (
        Diagnosis.WRONG_FORMAT,
        *("unknown magic byte", "converting byte[] to kafka connect data failed", "unrecognized token"),
    ),
    (Diagnosis.BAD_TARGET_NAME, "unexpected input", "identifier name ' is too long"),
    # Writing rows.
    (Diagnosis.DUPLICATE, "duplicate key value violates", "duplicate entry '"),
    (
        Diagnosis.CONSTRAINT,
        *("violates not-null constraint", "violates check constraint", "violates foreign key constraint"),
        *("violates exclusion constraint", "a foreign key constraint fails", "column ' cannot be null"),
        *("check constraint ' is violated", 'no partition of relation "" found for row'),
    ),
    (
        Diagnosis.VALUE,
        *("value too long for type", "data too long for column", "numeric field overflow", "integer out of range"),
        *("bigint out of range", "smallint out of range", "is out of range for type", "out of range value for column"),
        *("value out of range", "timestamp out of range", "date out of range", "interval out of range"),
        *("has no equivalent in encoding", "unsupported unicode escape sequence", "row is too big:", "index row size"),
        *("data truncated for column", "invalid json text", "incorrect integer value", "incorrect decimal value"),
        *("incorrect date value", "incorrect time value", "data truncation", "invalid byte sequence for encoding"),
        *("incorrect string value", "incorrect datetime value", "invalid value for nanoofday", "infinity values"),
    ),
    (
        Diagnosis.LOCKED,
        *("deadlock detected", "deadlock found", "could not serialize access", "lock wait timeout exceeded"),
        "canceling statement due to lock timeout",
    ),
    (Diagnosis.ABORTED, "current transaction is aborted"),
    (Diagnosis.ROW_TWICE, "cannot affect row a second time"),
    (Diagnosis.READ_CANCELLED, *_CANCELLED),
    (Diagnosis.WRITE_CANCELLED, *_CANCELLED),
    (
        Diagnosis.READ_ONLY,
        *("read only transaction", "cannot execute…during recovery", "connection is read-only"),
        *("read-only transaction", "read-only mode", "read-only option so it cannot", "--read-only option"),
    ),
)
