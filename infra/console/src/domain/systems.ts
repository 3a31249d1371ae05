/** Databases and object stores as forms ask for them, and the bodies that the API takes. */

import { NEEDED } from "./clusters.ts";
import { labelsOf, labelsText } from "./labels.ts";

export type Provider = "postgresql" | "mysql" | "s3" | "minio";

export interface SystemDraft {
  provider: Provider;
  name: string;
  description: string;
  labels: string;
  config: Record<string, string>;
  /** Secrets: they live in the form only. */
  credentials: Record<string, string>;
  /** What is edited. */
  saved?: Saved;
}

/** A connection as the API shows it. */
interface Saved {
  provider: Provider;
  name: string;
  description: string | null;
  labels: Record<string, unknown>;
  config: object;
  credentials: { configured: boolean };
  capabilities: readonly string[];
}

export const DATABASES: readonly Provider[] = ["postgresql", "mysql"];
export const PROVIDERS: readonly Provider[] = [...DATABASES, "s3", "minio"];

export const PORTS: Partial<Record<Provider, string>> = { postgresql: "5432", mysql: "3306" };

/** The class of the plug-in that captures the changes of a database. */
export function capturePlugin(provider: string): string | undefined {
  return NEEDED[`${provider}_source`]?.[0];
}

export function isDatabase(provider: string): boolean {
  return DATABASES.includes(provider as Provider);
}

/** The secrets that a system has. The certificate of an authority is used where the server's is verified. */
export function secretsOf(provider: string, sslMode = ""): readonly string[] {
  if (!isDatabase(provider)) return ["access_key_id", "secret_access_key", "session_token"];
  return sslMode.startsWith("verify") ? ["password", "ca_certificate"] : ["password"];
}

export function emptyDraft(provider: Provider): SystemDraft {
  const config: Record<string, string> = isDatabase(provider) ? { ssl_mode: "require" } : {};
  return { provider, name: "", description: "", labels: "", config, credentials: {} };
}

export function savedDraft(saved: Saved): SystemDraft {
  const { provider, name, description, labels } = saved;
  const config = Object.fromEntries(Object.entries(saved.config).map(([field, value]) => [field, typedAs(value)]));
  return { provider, name, description: description ?? "", labels: labelsText(labels), config, credentials: {}, saved };
}

/** How a value stands in its field. */
function typedAs(value: unknown): string {
  return typeof value === "boolean" ? (value ? "yes" : "no") : String(value ?? "");
}

/** What is sent to test a system: blanks are left out, since each has a default. What was not touched stays as it is. */
export function testBody({ provider, config, credentials, saved }: SystemDraft) {
  const { port, path_style, ...others } = filled(config);
  const typed: Record<string, unknown> = {
    ...others,
    ...(port ? { port: Number(port) } : {}),
    ...(path_style ? { path_style: path_style === "yes" } : {}),
  };
  const changed = Object.entries(saved?.config ?? {}).map(([field, value]) => [
    field,
    typedAs(value) === config[field] ? value : (typed[field] ?? null),
  ]);
  return { provider, config: { ...typed, ...Object.fromEntries(changed) }, credentials: filled(credentials) };
}

/** What is sent to save it: all of a connection that is there already, since that is replaced. */
export function registerBody(draft: SystemDraft) {
  const { name, description, labels, saved } = draft;
  const others = { description: description || null, labels: labelsOf(labels), capabilities: saved?.capabilities };
  return { ...testBody(draft), name, ...(saved && others) };
}

function filled(values: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value.trim() !== ""));
}

/** A prefix of topics made of a name: letters, digits, `_` and `-`. */
export function prefixOf(name: string): string {
  return name
    .toLowerCase()
    .replace(/[^a-z0-9_-]+/g, "_")
    .replace(/^_+|_+$/g, "");
}
