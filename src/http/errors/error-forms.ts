// The bodies of errors: those of the API, and those that clients of other wires read (docs/contract.md#errors).
import type { AppError } from '../../domain/errors.js';
import { generationHeaderId } from '../../domain/identifiers.js';
import { toRoutingMetadataDto } from '../dto/routing-metadata.dto.js';

/** A path of the Messages wire, below any prefix. */
const MESSAGES_PATH = /^\/api\/v1\/messages(?:\/|$)/;
const RESPONSES_PATH = /^\/api\/v1\/responses(?:\/|$)/;

/** Anthropic's words by status; the rest of 4xx is an invalid request. */
const MESSAGES_TYPES: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  408: 'timeout_error',
  429: 'rate_limit_error',
  503: 'overloaded_error',
  504: 'timeout_error',
  524: 'timeout_error',
  529: 'overloaded_error',
};

export function isMessagesPath(path: string): boolean {
  return MESSAGES_PATH.test(path);
}

export function isResponsesPath(path: string): boolean {
  return RESPONSES_PATH.test(path);
}

export function errorBody(error: AppError): unknown {
  const { code, message, status, errorType, metadata } = error;
  // A 500 reveals nothing about the inside.
  if (code === 'internal') return { error: { code: status, message } };
  return {
    error: { code: status, message, metadata: { error_type: errorType, ...metadata } },
    ...routingMembers(error),
  };
}

export function messagesErrorBody(error: AppError): object {
  const { code, status, errorType, metadata, generationId } = error;
  const type = MESSAGES_TYPES[status] ?? (status < 500 ? 'invalid_request_error' : 'api_error');
  const isKnown = code !== 'internal' && Object.keys(metadata).length > 0;
  return {
    type: 'error',
    error: { type, message: agentsMessage(error), error_type: errorType },
    request_id: generationId === null ? null : generationHeaderId(generationId),
    ...(isKnown ? { metadata } : {}),
    ...routingMembers(error),
  };
}

/** Coding agents shorten their history where they find Anthropic's words for it. */
function agentsMessage({ message, errorType }: AppError): string {
  const isAbout = errorType === 'context_length_exceeded' && !/prompt is too long/i.test(message);
  return isAbout ? `prompt is too long: ${message}` : message;
}

export function routingMembers({ routingMetadata }: AppError): object {
  return routingMetadata === null ? {} : { openrouter_metadata: toRoutingMetadataDto(routingMetadata) };
}
