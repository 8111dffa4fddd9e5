// The shapes of error bodies. Source: docs/contract.md#errors, docs/contract.md#messages-errors,
// docs/contract.md#responses-errors, docs/contract.md#workload-identity.
import { expect } from '@jest/globals';

/** The common members of supertest's responses and readResponse(). */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

/** Checks an answer against the error shape and returns its message. */
export function expectError(response: Answer, status: number, message?: string | RegExp): string {
  if (typeof (response.body as { error?: unknown }).error === 'string')
    return expectOAuthError(response, status, message);
  const { type, error_type: errorType } = response.body as { type?: unknown; error_type?: unknown };
  const expected =
    type === 'error'
      ? expect.objectContaining(MESSAGES_ERROR)
      : errorType === undefined
        ? errorOf(status)
        : responsesErrorOf(status);
  expect({ status: response.status, body: response.body }).toEqual({ status, body: expected });
  expect(response.headers['content-type']).toMatch(/^application\/json(?:;|$)/);
  expect(response.headers['x-request-id']).toMatch(/^[\w.:-]+$/);
  const { message: text } = (response.body as { error: { message: string } }).error;
  if (typeof message === 'string') expect(text).toBe(message);
  if (message instanceof RegExp) expect(text).toMatch(message);
  return text;
}

function expectOAuthError(
  { status, headers, body }: Answer,
  expected: number,
  message?: string | RegExp,
): string {
  expect({ status, body }).toEqual({
    status: expected,
    body: {
      error: expect.stringMatching(/^[a-z_]+$/),
      error_description: expect.stringMatching(/^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/),
    },
  });
  expect(headers['content-type']).toMatch(/^application\/json(?:;|$)/);
  expect(headers['cache-control']).toBe('no-store');
  const { error_description: text } = body as { error_description: string };
  if (message !== undefined) expect(text).toMatch(message);
  return text;
}

const errorOf = (status: number): object => ({
  error: {
    code: status,
    message: expect.any(String),
    ...(status === 500 ? {} : { metadata: expect.objectContaining({ error_type: expect.any(String) }) }),
  },
});

const responsesErrorOf = (status: number): object => ({
  error: expect.objectContaining({ code: status, message: expect.any(String), type: expect.any(String) }),
  error_type: expect.any(String),
});

/** openapi.json says which paths have it. */
const MESSAGES_ERROR = {
  error: { type: expect.any(String), message: expect.any(String), error_type: expect.any(String) },
  request_id: null,
};
