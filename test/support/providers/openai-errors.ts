// The error bodies of OpenAI's wire.
import type { StubReply } from './provider-stub.js';

export function openAiError(
  status: number,
  message: string,
  code: string | null,
  options: { readonly type?: string; readonly headers?: Readonly<Record<string, string>> } = {},
): StubReply {
  const { type = 'invalid_request_error', headers } = options;
  return {
    status,
    body: { error: { message, type, param: null, code } },
    ...(headers === undefined ? {} : { headers }),
  };
}
