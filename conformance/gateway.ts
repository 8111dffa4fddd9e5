// What a gateway is to the checks: something that is asked for the embeddings of one provider, over HTTP.
import { request } from 'undici';
import type { Members } from '../test/support/providers/conformance-row.js';
import type { ProviderRow } from '../test/support/providers/rows.js';

/** Milliseconds that either gateway is told to wait for a provider. */
export const PROVIDER_TIMEOUT_MS = 6_000;
// Longer than any answer may take: a gateway that never answers must not hold up the run.
const TIMEOUT_MS = 20_000;

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  /** Undefined when the text is no JSON. */
  readonly json: unknown;
}

export interface CallOptions {
  /** The provider that takes over when the first one is out. */
  readonly next?: ProviderRow;
  /** A passing failure is tried again. */
  readonly repeats?: boolean;
}

export interface Gateway {
  readonly name: string;
  /** The heads of checks that are about something it does not do. */
  readonly notOffered: ReadonlySet<string>;
  /** What a reader of its table has to know. */
  readonly remarks: readonly string[];
  /** Throws NotOffered where it has no embeddings of this provider. */
  ask(row: ProviderRow, body: Members, options?: CallOptions): Promise<Answer>;
  stop(): Promise<void>;
}

export class NotOffered extends Error {}

export async function post(
  url: string,
  headers: Readonly<Record<string, string>>,
  body: Members,
  signal: AbortSignal,
): Promise<Answer> {
  const response = await request(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
    headersTimeout: TIMEOUT_MS,
    bodyTimeout: TIMEOUT_MS,
    signal,
  });
  const text = await response.body.text();
  return { status: response.statusCode, headers: response.headers, text, json: parse(text) };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
