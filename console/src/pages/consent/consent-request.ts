// The request of a program for a key: which ones cannot be granted, and the address that receives the code.
import type { ConsentSearch } from './consent-search';

const LOOPBACK: ReadonlySet<string> = new Set(['127.0.0.1', '[::1]', 'localhost']);
const CHALLENGE = /^[\w-]{43}$/;

/** A request that the page can ask the reader about. The service checks it again. */
export interface ConsentRequest {
  readonly callback: string;
  /** With its port: the reader recognises it. */
  readonly host: string;
  readonly isLoopback: boolean;
  readonly challenge: string;
}

/** The request, or why it cannot be granted. */
export function readConsentRequest(search: ConsentSearch): ConsentRequest | string {
  const { callback_url: callback, code_challenge: challenge, code_challenge_method: method } = search;
  if (callback === undefined) return 'The address has no callback_url, which receives the code.';
  if (!URL.canParse(callback)) return 'Its callback_url is not an absolute http or https URL.';
  const { protocol, hostname, host, username, password } = new URL(callback);
  if (username !== '' || password !== '') return 'Its callback_url has a user name or password.';
  if (callback.includes('#')) return 'Its callback_url has a fragment.';
  const isLoopback = protocol === 'http:' && LOOPBACK.has(hostname);
  if (!isLoopback && protocol !== 'https:')
    return `The code would go to ${host || protocol}. It goes over http to this machine alone: 127.0.0.1, [::1] or localhost.`;
  if (challenge === undefined)
    return 'The program has sent no code_challenge. Without it, another program that sees the code could take the key.';
  if (method !== 'S256')
    return `The program must send code_challenge_method=S256${method === undefined ? '.' : `, not ${method}.`}`;
  if (!CHALLENGE.test(challenge)) return 'Its code_challenge is not a SHA-256 in base64url.';
  return { callback, host, isLoopback, challenge };
}

/** The program's own parameters stay as they are, byte by byte. */
export function addParameters(callback: string, parameters: Readonly<Record<string, string>>): string {
  const added = new URLSearchParams(parameters).toString();
  const separator = !callback.includes('?') ? '?' : /[?&]$/.test(callback) ? '' : '&';
  return `${callback}${separator}${added}`;
}
