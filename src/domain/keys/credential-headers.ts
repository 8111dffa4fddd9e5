// The headers in which a caller may present its key (docs/contract.md#authentication).
import { SECRET_PREFIX } from './api-key.js';

// RFC 6750: the scheme's name is case-insensitive. The bound is far above any key of this service.
const BEARER = /^Bearer +([^\s]{1,512}) *$/i;
const BARE = /^[^\s]{1,512}$/;
// Headers of clients that send no `Authorization`.
const BARE_HEADERS = ['x-api-key', 'api-key', 'x-portkey-api-key'] as const;

export interface PresentedCredential {
  /** Null: the credential is malformed. */
  readonly secret: string | null;
}

/** Null without a credential: an empty value counts as absent. `Authorization` takes precedence over keys of other forms. */
export function presentedCredential(
  headers: Readonly<Record<string, string | string[] | undefined>>,
): PresentedCredential | null {
  const authorization = textOf(headers['authorization']);
  const bearer = BEARER.exec(authorization)?.[1];
  if (bearer !== undefined) return { secret: chosen(bearer, headers) };
  // Clients send the scheme alone when they have no token for it.
  if (authorization !== '' && !/^Bearer *$/i.test(authorization)) return { secret: null };
  for (const name of BARE_HEADERS) {
    const value = textOf(headers[name]);
    if (value !== '') return { secret: BARE.test(value) ? value : null };
  }
  return authorization === '' ? null : { secret: null };
}

/** Coding agents send two: the key of this service counts, and two different ones of its form are malformed. */
function chosen(bearer: string, headers: Parameters<typeof presentedCredential>[0]): string | null {
  if (BARE_HEADERS.every((name) => headers[name] === undefined)) return bearer;
  const own = BARE_HEADERS.map((name) => textOf(headers[name])).find((value) =>
    value.startsWith(SECRET_PREFIX),
  );
  if (own === undefined || own === bearer) return bearer;
  if (bearer.startsWith(SECRET_PREFIX)) return null;
  return BARE.test(own) ? own : null;
}

function textOf(value: string | string[] | undefined): string {
  return typeof value === 'string' ? value.trim() : '';
}
