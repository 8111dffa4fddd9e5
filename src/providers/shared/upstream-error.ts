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
    ...retryAfterOf(response, error),
  };
}

type Members = Readonly<Record<string, unknown>>;

function messageOf(body: Members, error: Members): string | null {
  const { detail, message } = body;
  const report = [detail, message, asObject(message)['detail']].find(Array.isArray);
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
