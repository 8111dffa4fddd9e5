// Secrets of a request that its server may repeat in an error: those in the query of an address, and a password.
import type { OutboundRequest, OutboundResponse } from './exchange.js';

const MASK = '****';
// Not secret, and needed to understand the error.
const PUBLIC_PARAMETERS = new Set(['api-version']);

/** An answer that is no success, without the request's secrets. A success is read and not shown. */
export function withoutEchoedSecrets(response: OutboundResponse, request: OutboundRequest): OutboundResponse {
  if (response.status >= 200 && response.status < 300) return response;
  const secrets = secretsOf(request);
  if (secrets.length === 0) return response;
  let text = response.body.toString('latin1');
  for (const secret of secrets) text = text.replaceAll(secret, MASK);
  return { ...response, body: Buffer.from(text, 'latin1') };
}

function secretsOf({ url, headers }: OutboundRequest): readonly string[] {
  const secrets: string[] = [];
  const [, query = ''] = url.split('?', 2);
  for (const [name, value] of new URLSearchParams(query))
    if (!PUBLIC_PARAMETERS.has(name)) secrets.push(value, encodeURIComponent(value));
  // As they were written, whatever their encoding.
  for (const parameter of query.split('&')) {
    const [name = '', value = ''] = parameter.split('=', 2);
    if (!PUBLIC_PARAMETERS.has(name)) secrets.push(value);
  }
  const [, basic] = /^Basic (.+)$/.exec(headers['authorization'] ?? '') ?? [];
  if (basic !== undefined) {
    const userInfo = Buffer.from(basic, 'base64').toString();
    const password = userInfo.slice(userInfo.indexOf(':') + 1);
    secrets.push(basic, userInfo, password, encodeURIComponent(password));
  }
  // The body is compared as latin1, byte by byte. Longer secrets first: one may be a part of another.
  return [...new Set(secrets.map((secret) => Buffer.from(secret).toString('latin1')))]
    .filter((secret) => secret !== '')
    .toSorted((one, other) => other.length - one.length);
}
