// Cookies of this host alone: written, and read from the header of a request.

// Browsers accept a cookie of this name only with Secure and Path=/, and without a Domain: no other host can set it.
export const HOST_PREFIX = '__Host-';

export interface HostCookie {
  readonly name: string;
  readonly value: string;
  readonly seconds: number;
  readonly sameSite: 'Strict' | 'Lax';
  /** False, without TLS on loopback alone: it has no prefix and is not Secure. */
  readonly isSecure: boolean;
}

/** The `Set-Cookie` header. */
export function writeHostCookie({ name, value, seconds, sameSite, isSecure }: HostCookie): string {
  const [prefix, secure] = isSecure ? [HOST_PREFIX, '; Secure'] : ['', ''];
  return `${prefix}${name}=${value}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=${sameSite}${secure}`;
}

/** By the whole name, with its prefix. Null: the header has no such cookie. */
export function cookieValue(header: string, name: string): string | null {
  for (const part of header.split(';')) {
    const at = part.indexOf('=');
    if (at > 0 && part.slice(0, at).trim() === name) return part.slice(at + 1).trim();
  }
  return null;
}
