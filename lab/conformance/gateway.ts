// The interface of a gateway under test: embeddings of one provider over HTTP.
import { request } from 'undici';
import type { Members } from '../../test/support/providers/conformance-row.js';
import type { ProviderRow } from '../../test/support/providers/rows.js';

/** Milliseconds: the provider time-out that both gateways are configured with. */
export const PROVIDER_TIMEOUT_MS = 6_000;
// Longer than any answer may take: a gateway that never answers must not block the run.
const TIMEOUT_MS = 20_000;

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  /** Undefined when the text is not JSON. */
  readonly json: unknown;
}

export interface CallOptions {
  /** The provider that takes over when the first one is out. */
  readonly next?: ProviderRow;
  /** Whether the gateway retries a transient failure. */
  readonly repeats?: boolean;
}

export interface Gateway {
  readonly name: string;
  /** The heads of checks about features that it does not offer. */
  readonly notOffered: ReadonlySet<string>;
  /** Notes for readers of its table. */
  readonly remarks: readonly string[];
  /** Throws NotOffered when it has no embeddings of this provider. */
  ask(row: ProviderRow, body: Members, options?: CallOptions): Promise<Answer>;
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
