// Requests to issuers: the client's own fetch through the outbound module. The operator configures issuers as providers are
// configured, so that private addresses are allowed and the operator's proxy applies.
import type { CustomFetch } from 'openid-client';
import type { HttpClient } from '../../outbound/http-client.js';

const LIMITS = { timeout: 5_000, maxResponseBytes: 1024 * 1024 };
// The body is decompressed, and counted, already.
const OF_THE_TRANSFER = new Set(['content-encoding', 'content-length', 'transfer-encoding']);
const WITHOUT_BODY = new Set([204, 205, 304]);

/** Follows no redirect. Rejects as HttpClient.send does. */
export function issuerFetch(http: Pick<HttpClient, 'send'>): CustomFetch {
  return async (url, { method, headers, body }) => {
    if (method !== 'GET' && method !== 'POST')
      throw new Error(`no request of an issuer has the method ${method}`);
    const text = body === undefined || body === null ? undefined : textOf(body);
    const answer = await http.send(
      { method, url, headers, ...(text !== undefined && { body: text }) },
      LIMITS,
    );
    const answerHeaders = Object.entries(answer.headers).flatMap(([name, values]) =>
      OF_THE_TRANSFER.has(name) ? [] : [values ?? []].flat().map((value): [string, string] => [name, value]),
    );
    return new Response(WITHOUT_BODY.has(answer.status) ? null : new Uint8Array(answer.body), {
      status: answer.status,
      headers: answerHeaders,
    });
  };
}

function textOf(body: unknown): string {
  if (typeof body === 'string') return body;
  if (body instanceof URLSearchParams) return body.toString();
  throw new Error('requests to issuers have forms as their body');
}
