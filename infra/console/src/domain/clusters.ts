/** What Kafka and Connect clusters take, by how one connects to them, and what Connect has to have. */

/** The fields of a Kafka cluster beside its name and servers, and its secrets. */
export function usesOf(protocol: string, mechanism: string) {
  const fields: string[] = [];
  const secrets: string[] = [];
  if (protocol.startsWith("SASL")) {
    fields.push("sasl_mechanism");
    if (mechanism === "OAUTHBEARER") {
      fields.push("token_endpoint_url", "client_id", "scope");
      secrets.push("client_secret");
    } else {
      fields.push("username");
      secrets.push("password");
    }
  }
  if (protocol.endsWith("SSL")) secrets.push("ca_certificate", "client_certificate", "client_key");
  return { fields, secrets };
}

/** Those of these fields that were filled in; undefined where none was. */
export function given(values: Record<string, string>, names: readonly string[]): Record<string, string> | undefined {
  const typed = names.flatMap((name) => (values[name]?.trim() ? [[name, values[name]] as const] : []));
  return typed.length ? Object.fromEntries(typed) : undefined;
}

/** What each use of Connect needs: one of these plug-ins. */
export const NEEDED: Record<string, readonly string[]> = {
  postgresql_source: ["io.debezium.connector.postgresql.PostgresConnector"],
  mysql_source: ["io.debezium.connector.mysql.MySqlConnector"],
  database_sink: ["io.debezium.connector.jdbc.JdbcSinkConnector"],
  object_sink: [
    "io.aiven.kafka.connect.s3.AivenKafkaConnectS3SinkConnector",
    "io.confluent.connect.s3.S3SinkConnector",
    "org.apache.camel.kafkaconnector.CamelSinkConnector",
  ],
};

export interface Plugin {
  class: string;
  type: string;
  version: string | null;
}

/** The plug-in for each use; undefined where none is installed. */
export const installed = (plugins: readonly Plugin[]): [use: string, plugin: Plugin | undefined][] =>
  Object.entries(NEEDED).map(([use, classes]) => [
    use,
    classes.map((name) => plugins.find((one) => one.class === name)).find((one) => one !== undefined),
  ]);
