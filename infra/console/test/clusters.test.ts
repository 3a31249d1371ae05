import assert from "node:assert/strict";
import { test } from "node:test";
import { given, installed, usesOf } from "../src/domain/clusters.ts";
import { labelsOf, labelsText } from "../src/domain/labels.ts";

test("a protocol asks for what it takes, and for nothing else", () => {
  assert.deepEqual(usesOf("PLAINTEXT", "PLAIN"), { fields: [], secrets: [] });
  assert.deepEqual(usesOf("SASL_PLAINTEXT", "SCRAM-SHA-256"), {
    fields: ["sasl_mechanism", "username"],
    secrets: ["password"],
  });
  const token = usesOf("SASL_SSL", "OAUTHBEARER");
  assert.ok(token.fields.includes("token_endpoint_url") && !token.fields.includes("username"));
  assert.ok(token.secrets.includes("client_secret") && !token.secrets.includes("password"));
  assert.ok(usesOf("SSL", "").secrets.includes("ca_certificate"));
});

test("a secret that was not typed is not sent", () => {
  assert.equal(given({ password: "" }, ["password"]), undefined);
  assert.deepEqual(given({ password: "a", client_key: "b" }, ["password"]), { password: "a" });
});

test("of several plug-ins for one use one is enough", () => {
  const camel = { class: "org.apache.camel.kafkaconnector.CamelSinkConnector", type: "sink", version: null };
  const found = new Map(installed([camel]));
  assert.equal(found.get("object_sink"), camel);
  assert.equal(found.get("mysql_source"), undefined);
});

test("labels survive being written as lines and read again", () => {
  const labels = { team: "shop", "a/b": "x:y", empty: "" };
  assert.deepEqual(labelsOf(labelsText(labels)), labels);
  assert.deepEqual(labelsOf(" \n key : value \nalone"), { key: "value", alone: "" });
});
