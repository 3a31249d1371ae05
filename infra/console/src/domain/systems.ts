/** Databases and object stores: the fields of their forms, and what the API takes. */

import { given, NEEDED } from "./clusters.ts";

export type Provider = "postgresql" | "mysql" | "s3" | "minio";

export const DATABASES: readonly Provider[] = ["postgresql", "mysql"];
export const PROVIDERS: readonly Provider[] = [...DATABASES, "s3", "minio"];

export const PORTS: Partial<Record<Provider, string>> = { postgresql: "5432", mysql: "3306" };

/** The class of the plug-in that captures the changes of a database. */
export const capturePlugin = (provider: string): string | undefined => NEEDED[`${provider}_source`]?.[0];

export const isDatabase = (provider: string): boolean => DATABASES.includes(provider as Provider);

/** The secrets that a system has. The certificate of an authority is used where the server's is verified. */
export function secretsOf(provider: string, sslMode = ""): readonly string[] {
  if (!isDatabase(provider)) return ["access_key_id", "secret_access_key", "session_token"];
  return sslMode.startsWith("verify") ? ["password", "ca_certificate"] : ["password"];
}

/** The fields of an address, in the order of the form. */
export function addressFields(provider: Provider): readonly string[] {
  if (isDatabase(provider)) return ["host", "port", "database_name", "username", "ssl_mode"];
  return ["bucket", ...(provider === "minio" ? ["endpoint_url"] : []), "region", "prefix", "path_style"];
}

/** What is sent to test a system: blanks are left out, since each has a default. */
export function testBody(provider: Provider, values: Record<string, string>) {
  const { port, path_style, ...others } = given(values, addressFields(provider)) ?? {};
  const config = {
    ...others,
    ...(port ? { port: Number(port) } : {}),
    ...(path_style ? { path_style: path_style === "yes" } : {}),
  };
  return { provider, config, credentials: given(values, secretsOf(provider, values.ssl_mode)) ?? {} };
}

/** A prefix of topics made of a name: letters, digits, `_` and `-`. */
export const prefixOf = (name: string): string =>
  name
    .toLowerCase()
    .replace(/[^a-z0-9_-]+/g, "_")
    .replace(/^_+|_+$/g, "");
