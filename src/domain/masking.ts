// How secret values are shown. Source: decisions 13.

export function abbreviate(text: string, head: number, tail: number): string {
  // Half of a character is stored nowhere.
  return `${text.slice(0, head)}...${text.slice(-tail)}`.toWellFormed();
}

const SHORT_SECRET = '****';
const PASSWORD = '********';

/** First four and last four characters of a secret that is long enough to hide the rest, else only stars. */
export function maskSecret(secret: string): string {
  return secret.length >= 12 ? abbreviate(secret, 4, 4) : SHORT_SECRET;
}

/** Whether a text may be what maskSecret() made of some secret. */
export function isSecretMask(text: string): boolean {
  return text === SHORT_SECRET || (text.length === 11 && text.startsWith('...', 4));
}

/** Passwords show nothing, not even their length. */
export function maskPassword(): string {
  return PASSWORD;
}

/** Whether a text is what every password is shown as. */
export function isPasswordMask(text: string): boolean {
  return text === PASSWORD;
}
