// Reads the errors of upstreams in their most common shapes.
import type { ProviderError, UpstreamResponse } from './provider.js';
import { readOpenAiError } from './openai-wire.js';
import { asObject, parseErrorBody } from './wire.js';

/**
 * Reads the errors of `readOpenAiError`, and validation reports: a list of `{loc, msg}` under `detail` or `message`.
 * The delay comes from the header in milliseconds if there is one.
 */
export function readUpstreamError(response: UpstreamResponse): ProviderError {
  const error = readOpenAiError(response);
  const body = parseErrorBody(response);
  const report = [body['detail'], body['message'], asObject(body['message'])['detail']].find(Array.isArray);
  const nested = asObject(body['detail'])['error'] ?? asObject(body['detail'])['message'];
  const message = report ? describeReport(report) : nested;
  return {
    ...error,
    ...(typeof message === 'string' && message !== '' ? { message } : {}),
    ...retryAfterMilliseconds(response),
  };
}

function describeReport(report: readonly unknown[]): string {
  const problems = report.map((entry) => {
    const { loc, msg } = asObject(entry);
    const text = typeof msg === 'string' ? msg : JSON.stringify(entry);
    return Array.isArray(loc) ? `${loc.join('.')}: ${text}` : text;
  });
  return problems.join('; ');
}

/** OpenAI, Azure and compatible servers send short delays more precisely than `retry-after` can. */
function retryAfterMilliseconds({ headers }: UpstreamResponse): Pick<ProviderError, 'retryAfter'> {
  const text = headers['retry-after-ms'] ?? headers['x-ms-retry-after-ms'];
  const milliseconds = typeof text === 'string' && /^\d+$/.test(text) ? Number(text) : null;
  return milliseconds === null ? {} : { retryAfter: milliseconds / 1000 };
}
