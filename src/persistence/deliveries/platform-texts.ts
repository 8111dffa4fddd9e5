// The stored text of a failure: the HTTP status in clear, the platform's text encrypted. A platform may quote the
// data that it received, so the text is kept no longer than contents.
import { statusIn } from '../../domain/destinations/delivery.js';
import type { ConfigCipher } from '../encryption/config-cipher.js';

export interface StoredText {
  /** `HTTP 400`, or empty. */
  readonly status: string;
  /** Null: there is no text beyond the status, or it was removed. */
  readonly ciphertext: Uint8Array<ArrayBuffer> | null;
  readonly encryptionKeyId: string | null;
}

export function encryptText(cipher: ConfigCipher, text: string, owner: string): StoredText {
  const status = statusIn(text);
  if (text === status) return { status, ciphertext: null, encryptionKeyId: null };
  return { status, ...cipher.encrypt(text, owner) };
}

/** The status alone when the text was removed or cannot be decrypted: it must not break the page of an operator. */
export function decryptText(
  cipher: ConfigCipher,
  { status, ciphertext, encryptionKeyId }: StoredText,
  owner: string,
): string {
  if (ciphertext === null || encryptionKeyId === null) return status;
  try {
    return String(cipher.decrypt({ ciphertext, encryptionKeyId }, owner));
  } catch {
    return status;
  }
}

/** The associated data of the ciphertexts; `rotation-statements.ts` has the same in SQL. */
export const ownerOfDeadLetter = (destinationId: string, generationId: string): string =>
  `dead letter ${destinationId} ${generationId}`;
export const ownerOfLastError = (destinationId: string): string => `last error ${destinationId}`;
