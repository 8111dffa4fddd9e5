// A sign-in that a browser has begun: sealed into its cookie, so that the database keeps nothing of it.
import type { Clock } from '../domain/clock.js';
import { cookieValue, HOST_PREFIX, writeHostCookie } from '../domain/host-cookie.js';
import type { ConfigCipher } from '../persistence/encryption/config-cipher.js';
import type { SignInChecks } from './issuers/issuer.js';

const SECONDS = 600;
const NAME = 'signalbox_sign_in';
/** Bound to the ciphertext: no other sealed value is read as a sign-in. */
const PURPOSE = 'console sign-in';
const SEALED = /^([\da-f]{8})\.([\w-]{1,4000})$/;

export interface PendingSignIn extends SignInChecks {
  readonly providerId: string;
  readonly returnUrl: string;
}

interface Sealed extends PendingSignIn {
  readonly endsAt: number;
}

/** The cookie of sign-ins. Without TLS, on loopback alone, it has no prefix and is not Secure. */
export class PendingSignIns {
  private readonly isSecure: boolean;

  constructor(
    publicUrl: string,
    private readonly cipher: Pick<ConfigCipher, 'encrypt' | 'decrypt'>,
    private readonly clock: Clock,
  ) {
    this.isSecure = publicUrl.startsWith('https:');
  }

  /** The `Set-Cookie` header. Lax: the callback is a navigation from the site of the issuer. */
  seal(pending: PendingSignIn, tag: string): string {
    const sealed: Sealed = { ...pending, endsAt: this.clock.now().getTime() + SECONDS * 1_000 };
    const { ciphertext, encryptionKeyId } = this.cipher.encrypt(sealed, PURPOSE);
    return this.cookie(tag, `${encryptionKeyId}.${Buffer.from(ciphertext).toString('base64url')}`, SECONDS);
  }

  /** The `Set-Cookie` header that removes it. */
  remove(tag: string): string {
    return this.cookie(tag, '', 0);
  }

  /** Null: the request has no such cookie, or one that is changed, expired or of a key that is gone. */
  open(cookies: string | undefined, tag: string): PendingSignIn | null {
    const prefix = this.isSecure ? HOST_PREFIX : '';
    const value = cookieValue(cookies ?? '', prefix + nameOf(tag));
    const [, encryptionKeyId, text] = SEALED.exec(value ?? '') ?? [];
    if (encryptionKeyId === undefined || text === undefined) return null;
    try {
      const ciphertext = Buffer.from(text, 'base64url');
      const { endsAt, ...pending } = this.cipher.decrypt({ ciphertext, encryptionKeyId }, PURPOSE) as Sealed;
      return this.clock.now().getTime() < endsAt ? pending : null;
    } catch {
      return null;
    }
  }

  private cookie(tag: string, value: string, seconds: number): string {
    const { isSecure } = this;
    return writeHostCookie({ name: nameOf(tag), value, seconds, sameSite: 'Lax', isSecure });
  }
}

function nameOf(tag: string): string {
  return `${NAME}_${tag}`;
}
