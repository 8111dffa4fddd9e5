// Common reading of responses: the meaning of a status without other information, and how a response is quoted.
import { hash } from 'node:crypto';
import { boundedText } from '../../domain/text/bounded-text.js';
import { retryAfterOf } from '../../domain/retry-after.js';
import type { GenerationTrace } from '../../domain/generations/generation-trace.js';
import type { DeliveryContext, DeliveryOutcome, DeliveryResponse } from './delivery.js';

const MAX_QUOTED = 200;

/** `HTTP 503: Service Unavailable`, with the beginning of the body on one line. */
export function describeAnswer({ status, body }: DeliveryResponse): string {
  const text = oneLine(body.subarray(0, MAX_QUOTED * 4).toString('utf8'));
  return text === '' ? `HTTP ${status}` : `HTTP ${status}: ${text}`;
}

/** The beginning of a platform's text, on one line and without control characters. */
export function oneLine(text: string): string {
  const line = text
    .slice(0, MAX_QUOTED * 4)
    .replace(/[\p{C}\s]+/gu, ' ')
    .trim();
  return boundedText(line, MAX_QUOTED);
}

/** The members of a JSON object in the body, else an empty object. */
export function answerMembers({ body }: DeliveryResponse): Readonly<Record<string, unknown>> {
  try {
    const answer: unknown = JSON.parse(body.toString('utf8'));
    return typeof answer === 'object' && answer !== null ? { ...answer } : {};
  } catch {
    return {};
  }
}

export interface StatusRules {
  /** Which 2xx confirm a delivery. Default: all. */
  readonly delivered?: (status: number) => boolean;
  /** Which failures are retried. Default: 408, 425, 429 and every 5xx. */
  readonly retried?: (status: number) => boolean;
}

export const isPassing = (status: number): boolean => [408, 425, 429].includes(status) || status >= 500;
// The platform rejects the credential, the address, the method or the form of every request: it would accept no trace.
const BLOCKING = new Set([401, 402, 403, 404, 405, 406, 407, 410, 411, 414, 415, 417, 421, 426, 431, 451]);

export const isSuccess = (status: number): boolean => status >= 200 && status < 300;

/** The outcome of a status alone. */
export function outcomeOfStatus(
  response: DeliveryResponse,
  { now }: DeliveryContext,
  { delivered = () => true, retried = isPassing }: StatusRules = {},
): DeliveryOutcome {
  const { status } = response;
  const reason = describeAnswer(response);
  if (isSuccess(status) && delivered(status)) return { outcome: 'delivered' };
  if (retried(status)) {
    const retryAfter = retryAfterOf(response.headers, now);
    return { outcome: 'retry', reason, ...(retryAfter === null ? {} : { retryAfter }) };
  }
  if (status === 413) return { outcome: 'too_large', reason };
  // A redirect is never followed, because it could lead anywhere. An unexpected 2xx comes from another server and does
  // not reject these traces.
  if (BLOCKING.has(status) || status < 400) return { outcome: 'blocked', reason };
  return { outcome: 'refused', reason };
}

/** The problem of a probe whose status is not acceptable. */
export function problemUnless(
  isGood: (status: number) => boolean,
): (response: DeliveryResponse) => string | null {
  return (response) => (isGood(response.status) ? null : describeAnswer(response));
}

/** A UUID (version 8) that is a pure function of the destination and the traces of a batch. */
export function batchIdOf(destinationId: string, traces: readonly GenerationTrace[]): string {
  const ids = traces.map(({ generationId }) => generationId);
  return uuidOfHash(hash('sha256', destinationId + ids.join(''), 'buffer'));
}

/** A UUID (version 8) for a step of a connection test, different in each test. */
export function probeIdOf({ destinationId, now }: DeliveryContext, step: string): string {
  return uuidOfHash(hash('sha256', `${destinationId} ${now.toISOString()} ${step}`, 'buffer'));
}

/** The first 16 bytes of a hash as a UUID of version 8. */
function uuidOfHash(digest: Buffer): string {
  const bytes = Buffer.from(digest.subarray(0, 16));
  bytes[6] = 0x80 | ((bytes[6] ?? 0) & 0x0f);
  bytes[8] = 0x80 | ((bytes[8] ?? 0) & 0x3f);
  const hex = bytes.toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/** Normalises a pasted address: no trailing slash, and https if it has no scheme. */
export function normaliseAddress(address: string): string {
  return withScheme(address).replace(/\/+$/, '');
}

/** Adds https to an address without a scheme. */
export function withScheme(address: string): string {
  const trimmed = address.trim();
  return /^[a-z][a-z0-9+.-]*:\/\//i.test(trimmed) ? trimmed : `https://${trimmed}`;
}

/** The value of a basic `authorization` header. */
export function basicAuthorization(name: string, password: string): string {
  return `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`;
}
