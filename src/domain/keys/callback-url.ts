// Where a code may be sent: the program that asked for it, on the machine of the person, or a host that the operator lists.

const MAX_LENGTH = 2_048;
// URL parsers disagree on blanks, control characters, backslashes and missing slashes, and no valid address has them.
const ABSOLUTE = /^https?:\/\/[^\s\p{C}\\/?#][^\s\p{C}\\]*$/iu;
const LOOPBACK = new Set(['127.0.0.1', '[::1]', 'localhost']);

/** The problem of a callback address; null: none. `hosts`: those of https addresses, each with its port unless it is 443. */
export function callbackProblem(address: string, hosts: readonly string[]): string | null {
  if (address.length > MAX_LENGTH) return `must have at most ${MAX_LENGTH} characters`;
  if (!ABSOLUTE.test(address) || !URL.canParse(address)) return 'must be an absolute http or https URL';
  const { protocol, hostname, host, username, password, hash } = new URL(address);
  if (username !== '' || password !== '') return 'must not have a user name or password';
  if (hash !== '' || address.includes('#')) return 'must not have a fragment';
  if (protocol === 'http:' && LOOPBACK.has(hostname)) return null;
  if (protocol === 'https:' && hosts.includes(host)) return null;
  return 'must be http on 127.0.0.1, [::1] or localhost, or https on a host of AUTH_CALLBACK_HOSTS';
}
