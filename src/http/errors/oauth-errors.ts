// The errors of OAuth's token endpoint (RFC 6749, section 5.2).
import type { AppError } from '../../domain/errors.js';

const OAUTH_PATH = /^\/api\/v1\/oauth(?:\/|$)/;

/** The words of an error that carries one as its `errorType`. */
const WORDS = new Set(['invalid_grant', 'invalid_scope', 'unsupported_grant_type']);

export function isOAuthPath(path: string): boolean {
  return OAUTH_PATH.test(path);
}

export function oauthErrorBody(error: AppError): object {
  return { error: wordOf(error), error_description: describe(error) };
}

function wordOf({ status, errorType }: AppError): string {
  if (WORDS.has(errorType)) return errorType;
  if (status === 429 || status === 503) return 'temporarily_unavailable';
  return status >= 500 ? 'server_error' : 'invalid_request';
}

/** In the characters that RFC 6749 permits. The first words of most texts repeat the OAuth word. */
function describe({ status, message, explanation }: AppError): string {
  return (status === 400 || status === 401 ? explanation : message).replaceAll(/[^\x20-\x7e]|["\\]/g, "'");
}
