"""How pgjdbc, the driver of the connectors, proves who the server is: nothing here needs a file on the worker."""

DEFAULT_JAVA_TLS = "org.postgresql.ssl.DefaultJavaSSLFactory"
"""Trusts what the worker's Java trusts, instead of a file in the worker's home folder."""

PINNED_TLS = "org.postgresql.ssl.SingleCertValidatingFactory"
"""Trusts the one certificate that it gets as text."""

REQUIRED_AUTHENTICATION = "scram-sha-256"
"""The driver's `requireAuth` (from 42.7.11 on, which Debezium 3.6.0 ships; older ones ignore it): with any other method
the connector fails before it sends the password, as Headgate itself does.
"""
