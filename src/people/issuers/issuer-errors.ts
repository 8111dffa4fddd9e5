// Why a sign-in by an issuer fails.
import { AuthorizationResponseError, ClientError, ResponseBodyError } from 'openid-client';
import { boundedText } from '../../domain/text/bounded-text.js';
import { OutboundFailure, OutboundTimeout } from '../../outbound/http-client.js';

const MAX_REASON = 300;
const MAX_CAUSES = 5;

/** The issuer cannot be used now: a later attempt may succeed. */
export class IssuerUnavailable extends Error {}

/** The issuer did not sign the person in, by its own word. */
export class IssuerRefused extends Error {
  constructor(
    /** Its error code, such as access_denied. */
    readonly code: string,
  ) {
    super(`the issuer answered ${code}`);
  }
}

/** The answer of the issuer fails a check: it is not what this browser began, or is not genuine. */
export class InvalidAnswer extends Error {}

/** The error, and the errors that it wraps. */
function causesOf(error: unknown): readonly Error[] {
  const causes: Error[] = [];
  for (let cause = error; cause instanceof Error && causes.length < MAX_CAUSES; cause = cause.cause)
    causes.push(cause);
  return causes;
}

/** The library wraps failures of its fetch. */
function isNetworkFailure(error: unknown): boolean {
  return causesOf(error).some(
    (cause) => cause instanceof OutboundTimeout || cause instanceof OutboundFailure,
  );
}

function isServerFailure(error: unknown): boolean {
  // An answer that the library expected with another status.
  const { cause } = error as { readonly cause?: unknown };
  return (
    error instanceof ClientError && cause instanceof Response && (cause.status >= 500 || cause.status === 429)
  );
}

export function toSignInError(error: unknown): Error {
  if (error instanceof IssuerUnavailable || error instanceof IssuerRefused) return error;
  if (isNetworkFailure(error) || isServerFailure(error)) {
    return new IssuerUnavailable(reasonOf(error), { cause: error });
  }
  if (error instanceof AuthorizationResponseError) return new IssuerRefused(codeOf(error.error));
  return new InvalidAnswer(reasonOf(error), { cause: error });
}

/** For the log and for administrators: codes and texts of the library, and none of a token. */
export function reasonOf(error: unknown): string {
  if (error instanceof ResponseBodyError) return `the issuer answered ${error.status} ${codeOf(error.error)}`;
  const texts = causesOf(error).map(wordsOf);
  const status = statusOf(error);
  return boundedText(
    [...new Set(texts), ...(status === null ? [] : [`status ${status}`])].join(': '),
    MAX_REASON,
  );
}

/** The parser of JSON quotes what it cannot read. */
function wordsOf(error: Error): string {
  return error instanceof SyntaxError ? 'the answer is not valid JSON' : error.message;
}

function statusOf(error: unknown): number | null {
  const cause: unknown = error instanceof Error ? error.cause : null;
  return cause instanceof Response ? cause.status : null;
}

/** Codes of OAuth are words; anything else is not repeated. */
function codeOf(code: string): string {
  return /^[\w.-]{1,64}$/.test(code) ? code : 'an error';
}
