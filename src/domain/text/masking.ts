// The masked form of secrets (docs/contract.md#masking).

export function abbreviate(text: string, head: number, tail: number): string {
  // The database cannot store half a surrogate pair.
  return `${text.slice(0, head)}...${text.slice(-tail)}`.toWellFormed();
}

const SHORT_SECRET = '****';
const PASSWORD = '********';

/** The first four and last four characters of a secret that is long enough to hide the rest, else only stars. */
export function maskSecret(secret: string): string {
  return secret.length >= 12 ? abbreviate(secret, 4, 4) : SHORT_SECRET;
}

// The forms of maskSecret(), of maskPassword() and of a key's label, alone or after a word such as `Bearer`.
const MASK = /^\s*(?:\S+\s+)?(?:\*{4}|\*{8}|(?:.{4}|sk-.{9})\.{3}.{4})\s*$/s;

/** Whether a text has the form in which records show a secret: it is no secret itself. */
export function isSecretMask(text: string): boolean {
  return MASK.test(text);
}

/** The rule of every member of a request that is a secret. */
export const MASK_RULE = 'is a mask, which records show in place of a secret; send the secret itself';

const HIDDEN = '****';
// An address as users type it: an optional scheme, user, host and port, and the rest. Authorities have no backslash.
const ADDRESS = /^\s*([a-z][a-z0-9+.-]*:\/\/)?(?:([^/?#\\]*)@)?([^/?#\\]*)(.*)$/is;
// Paths of every OTLP receiver.
const PUBLIC_PATH = /^\/?(?:v1\/traces\/?)?\s*$/;

/** Shows scheme, host and port. The path or query may be the credential (`/hooks/<token>`), and so may a user name. */
export function maskAddress(address: string): string {
  const [, scheme = '', user, host = '', rest = ''] = ADDRESS.exec(address) ?? [];
  const shown = scheme + (user === undefined ? '' : `${HIDDEN}@`) + host;
  return PUBLIC_PATH.test(rest) ? shown + rest : `${shown}/${HIDDEN}`;
}

/** Like maskAddress(), for the address of a platform's API, whose path is not secret. */
export function maskQuery(address: string): string {
  const [, scheme = '', user, host = '', rest = ''] = ADDRESS.exec(address) ?? [];
  const [path = ''] = rest.split(/[?#]/, 1);
  const shown = scheme + (user === undefined ? '' : `${HIDDEN}@`) + host + path;
  return path === rest ? shown : `${shown}?${HIDDEN}`;
}

/** Whether a text may be a mask of maskAddress() or maskQuery(). */
export function isAddressMask(text: string): boolean {
  return text.includes(`${HIDDEN}@`) || text.endsWith(`/${HIDDEN}`) || text.endsWith(`?${HIDDEN}`);
}

// Shorter segments without a digit are words (`webhooks`), which any text may contain.
const LONGEST_WORD = 11;

/** The parts of an address that its mask hides, in the forms that a text about a request may repeat. */
export function hiddenPartsOf(address: string, isPathSecret: boolean): readonly string[] {
  const [, , user, , rest = ''] = ADDRESS.exec(address.trim()) ?? [];
  const hidden = isPathSecret ? rest : rest.replace(/^[^?#]*/, '');
  const pieces = hidden.split(/[/?#&=]/).filter((piece) => piece.length > LONGEST_WORD || /\d/.test(piece));
  const parts = [...(user === undefined ? [] : [user]), hidden, ...hidden.split(/[?#]/), ...pieces];
  return [...new Set(parts.flatMap((part) => [part, decoded(part)]))].filter((part) => part !== '');
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Passwords show nothing, not even their length. */
export function maskPassword(): string {
  return PASSWORD;
}
