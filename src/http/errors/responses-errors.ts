// Errors as clients of the Responses wire read them (docs/contract.md#responses-errors): in bodies and in the last event of a stream.
import type { AppError } from '../../domain/errors.js';
import { routingMembers } from './error-forms.js';

interface WireErrorType {
  /** `error.type` of a body. */
  readonly type: string;
  /** `error.code` of an event, from OpenAI's list and the codes that its agents know. */
  readonly streamed: string;
}

const INVALID: WireErrorType = { type: 'invalid_request_error', streamed: 'invalid_prompt' };
const TYPES: Readonly<Record<number, WireErrorType>> = {
  401: { type: 'authentication_error', streamed: 'server_error' },
  402: { type: 'insufficient_quota', streamed: 'insufficient_quota' },
  403: { type: 'permission_error', streamed: 'server_error' },
  404: { type: 'not_found_error', streamed: 'server_error' },
  408: { type: 'timeout_error', streamed: 'server_error' },
  429: { type: 'rate_limit_error', streamed: 'rate_limit_exceeded' },
  529: { type: 'server_error', streamed: 'rate_limit_exceeded' },
};
const CONTEXT = 'context_length_exceeded';
const WAIT = 'retry-after';

export function wireErrorType({ status, errorType }: AppError): WireErrorType {
  if (errorType === CONTEXT) return { ...INVALID, streamed: CONTEXT };
  return TYPES[status] ?? (status < 500 ? INVALID : { type: 'server_error', streamed: 'server_error' });
}

/** Coding agents read the seconds to wait in the text: the headers of the stream have left. */
export function wireErrorMessage(error: AppError): string {
  const [, seconds] = Object.entries(error.headers).find(([name]) => name.toLowerCase() === WAIT) ?? [];
  const isLimit = wireErrorType(error).streamed === 'rate_limit_exceeded';
  return isLimit && seconds !== undefined && /^\d+$/.test(seconds)
    ? `${error.message}. Please try again in ${seconds}s.`
    : error.message;
}

export function responsesErrorBody(error: AppError): object {
  const { code, message, status, errorType, member, metadata } = error;
  const shown = { code: status, message, type: wireErrorType(error).type, param: member };
  // A 500 reveals nothing about the inside.
  if (code === 'internal') return { error: shown, error_type: errorType };
  return {
    error: { ...shown, metadata: { error_type: errorType, ...metadata } },
    error_type: errorType,
    ...routingMembers(error),
  };
}
