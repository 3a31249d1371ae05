/** Requests to the API: addresses, headers, answers and errors. Types and permissions are those of the API's document. */

import { OPERATIONS } from "./generated/operations.ts";
import type { components, operations } from "./generated/schema.d.ts";

export type Schemas = components["schemas"];
export type OperationId = keyof typeof OPERATIONS & keyof operations;

type JsonOf<R> = R extends { content: { "application/json": infer Body } } ? Body : undefined;
type Responses<All> = All extends unknown
  ? { [S in keyof All]: S extends 200 | 201 | 202 | 204 ? JsonOf<All[S]> : never }[keyof All]
  : never;
/** What may be left out has a default. */
type Sent<T> = T extends (infer Item)[] ? Sent<Item>[] : T extends object ? { [Key in keyof T]?: Sent<T[Key]> } : T;
type BodyOf<Id extends OperationId> = operations[Id] extends {
  requestBody: { content: { "application/json": infer B } };
}
  ? Sent<B>
  : unknown;

/** The body of a successful answer. */
export type Answer<Id extends OperationId> = Responses<operations[Id]["responses"]>;

type Row = Schemas["RowOutput"];
/** One of what can be asked for in several views: `definition` has any fields, `row` those of a list. */
type Viewed<One, Asked> = One extends unknown
  ? string extends keyof One
    ? never
    : Asked extends { view: "row" }
      ? Extract<One, Row>
      : One extends Row
        ? never
        : One
  : never;
/** What a reading shows: of a list, or of one. */
export type View<Body, Asked> = Body extends (infer One)[] ? Viewed<One, Asked>[] : Viewed<Body, Asked>;

export type Query = Record<string, string | number | boolean | readonly string[] | undefined | null>;

export interface Request_<Id extends OperationId> {
  path?: Record<string, string | number>;
  query?: Query;
  body?: BodyOf<Id>;
  /** The same for each attempt of one intent: a repeated request is carried out once. */
  key?: string;
  /** The version that the person has seen. */
  version?: number;
}

export interface Received<T> {
  data: T;
  status: number;
  etag: string | null;
  /** Where a list goes on; null at its end. */
  nextCursor: string | null;
  /** When the oldest of it was seen, where the API says that of the whole. */
  observedAt: string | null;
  /** Whether it says when something was observed: such times count for no ETag. */
  isObserved: boolean;
}

export interface Fault {
  location: (string | number)[];
  type: string;
  message?: string;
}

/** What the API answered instead of what was asked for. `status` is 0 when there was no answer. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  readonly details: unknown;
  readonly correlationId: string;

  constructor(status: number, code: string, message: string, details: unknown, correlationId: string) {
    super(message);
    this.status = status;
    this.code = code;
    this.details = details;
    this.correlationId = correlationId;
  }

  /** The faults of single fields; empty when the error is not about fields. */
  get faults(): Fault[] {
    return Array.isArray(this.details) ? (this.details as Fault[]) : [];
  }
}

export const NO_ANSWER = "NO_ANSWER";
const TIMEOUT_MILLISECONDS = 30_000;
const PREFIX = "api/v1";

export const hooks = {
  /** Called with each answer's status and headers, and the code of its error. */
  answered: (_status: number, _headers: Headers, _code: string | undefined): void => {},
  /** Whether nobody touches the page: then polls do not count as use of the session. */
  isQuiet: (): boolean => false,
};

export const newKey = (): string => crypto.randomUUID();

/** The address of an operation, relative to the console's page. */
export function address(id: OperationId, path: Record<string, string | number> = {}, query: Query = {}): string {
  const filled = OPERATIONS[id][1].replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(path[name])));
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined || value === null || value === "") continue;
    for (const each of Array.isArray(value) ? value : [value]) search.append(name, String(each));
  }
  const text = search.toString();
  return PREFIX + filled + (text ? `?${text}` : "");
}

/** Carries out an operation. Throws ApiError. */
export async function call<Id extends OperationId>(id: Id, request: Request_<Id> = {}): Promise<Received<Answer<Id>>> {
  const method = OPERATIONS[id][0];
  const headers: Record<string, string> = {};
  if (method === "POST") headers["Idempotency-Key"] = request.key ?? newKey();
  if (request.version !== undefined) headers["If-Match"] = `"${request.version}"`;
  if (request.body !== undefined) headers["Content-Type"] = "application/json";
  return send<Answer<Id>>(method, address(id, request.path, request.query), headers, request.body);
}

/** Reads an address. Where the answer is still the one with the ETag, its status is 304, without data. Throws ApiError. */
export function read(url: string, etag: string | null): Promise<Received<unknown>> {
  const headers: Record<string, string> = etag ? { "If-None-Match": etag } : {};
  if (hooks.isQuiet()) headers["X-Headgate-Background"] = "1";
  return send("GET", url, headers);
}

async function send<T>(method: string, url: string, headers: HeadersInit, body?: unknown): Promise<Received<T>> {
  const correlationId = newKey();
  const sent: RequestInit = {
    method,
    headers: { ...headers, Accept: "application/json", "X-Correlation-ID": correlationId },
    cache: "no-store",
    redirect: "error",
    signal: AbortSignal.timeout(TIMEOUT_MILLISECONDS),
    body: JSON.stringify(body),
  };
  let response: Response;
  let text: string;
  try {
    response = await fetch(url, sent);
    text = await response.text();
  } catch {
    throw new ApiError(0, NO_ANSWER, "", {}, correlationId);
  }
  const parsed = parse(text);
  const error = response.ok || response.status === 304 ? undefined : errorOf(response, parsed, correlationId);
  hooks.answered(response.status, response.headers, error?.code);
  if (error) throw error;
  return {
    data: parsed as T,
    status: response.status,
    etag: response.headers.get("ETag"),
    nextCursor: response.headers.get("X-Next-Cursor"),
    observedAt: response.headers.get("X-Observed-At"),
    isObserved: isObserved(parsed),
  };
}

/** Records of changes may show the time of an old look: they do not count. */
function isObserved(body: unknown): boolean {
  const deliveries = (body as { deliveries?: unknown } | undefined)?.deliveries;
  const parts = Array.isArray(body) ? body : [body, ...(Array.isArray(deliveries) ? deliveries : [])];
  return parts.some((part) => typeof (part as { observed_at?: unknown } | undefined)?.observed_at === "string");
}

function parse(text: string): unknown {
  if (text === "") return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function errorOf(response: Response, body: unknown, correlationId: string): ApiError {
  const error = (body as { error?: { code?: string; message?: string; details?: unknown } } | undefined)?.error;
  const id = response.headers.get("X-Correlation-ID") ?? correlationId;
  return new ApiError(response.status, error?.code ?? NO_ANSWER, error?.message ?? "", error?.details ?? {}, id);
}
