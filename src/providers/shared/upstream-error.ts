// Reads the errors of upstreams in their most common shapes.
import type { ProviderError, UpstreamResponse } from './provider.js';
import { asObject, errorText, parseErrorBody, statedStatus } from './wire.js';

/**
 * Reads `{error: {message, code, type}}`, the shapes of compatible servers, problem details, and validation reports: a
 * list of `{loc, msg}` under `detail` or `message`.
 */
export function readUpstreamError(response: UpstreamResponse): ProviderError {
  const body = parseErrorBody(response);
  const error = asObject(body['error'] ?? body);
  const code = error['code'] ?? body['code'];
  const type = error['type'] ?? body['error_type'];
  return {
    message: messageOf(body, error) ?? errorText(response),
    code: typeof code === 'string' || typeof code === 'number' ? String(code) : null,
    type: typeof type === 'string' ? type : null,
    status: statedStatus(body),
    ...unsupportedMemberOf(body, error),
    ...retryAfterOf(response, error),
  };
}

type Members = Readonly<Record<string, unknown>>;

const UNSUPPORTED = /^(?:(?:unknown|unsupported|unrecognized)_(?:parameter|value|argument)|extra_forbidden)$/;

/** By the code of the error, or by the entry of a report; never by words. */
function unsupportedMemberOf(body: Members, error: Members): Pick<ProviderError, 'unsupportedMember'> {
  const { code, type, param } = error;
  const isUnsupported = (word: unknown): boolean => typeof word === 'string' && UNSUPPORTED.test(word);
  if (typeof param === 'string' && (isUnsupported(code) || isUnsupported(type)))
    return { unsupportedMember: param };
  const entry = (reportOf(body) ?? []).map(asObject).find((each) => isUnsupported(each['type']));
  const path = Array.isArray(entry?.['loc']) ? entry['loc'].filter((name) => name !== 'body') : [];
  return path.length === 0 ? {} : { unsupportedMember: path.join('.') };
}

function reportOf({ detail, message }: Members): readonly unknown[] | undefined {
  return [detail, message, asObject(message)['detail']].find(Array.isArray);
}

function messageOf(body: Members, error: Members): string | null {
  const { detail, message } = body;
  const report = reportOf(body);
  if (report) return describeReport(report);
  const candidates = [
    asObject(detail)['error'],
    asObject(detail)['message'],
    error['message'],
    body['error'],
    detail,
    message,
    body['Message'],
    body['title'],
  ];
  const found = candidates.find((candidate) => typeof candidate === 'string' && candidate !== '');
  return typeof found === 'string' ? found : null;
}

function describeReport(report: readonly unknown[]): string {
  const problems = report.map((entry) => {
    const { loc, msg } = asObject(entry);
    const text = typeof msg === 'string' ? msg : JSON.stringify(entry);
    return Array.isArray(loc) ? `${loc.join('.')}: ${text}` : text;
  });
  return problems.join('; ');
}

/** OpenAI, Azure and compatible servers send short delays more precisely than `retry-after` can; aggregators in the body. */
function retryAfterOf({ headers }: UpstreamResponse, error: Members): Pick<ProviderError, 'retryAfter'> {
  const text = headers['retry-after-ms'] ?? headers['x-ms-retry-after-ms'];
  if (typeof text === 'string' && /^\d+(\.\d+)?$/.test(text)) return { retryAfter: Number(text) / 1000 };
  const stated = asObject(error['metadata'])['retry_after_seconds'] ?? error['retry_after'];
  return typeof stated === 'number' && stated >= 0 ? { retryAfter: stated } : {};
}
