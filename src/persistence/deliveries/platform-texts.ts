// What platforms say of a failure, as it is stored: the HTTP status in clear, the text encrypted. A platform may repeat what
// it was sent, so the text is kept no longer than contents are.
import { statusIn } from '../../domain/destinations/delivery.js';
import type { ConfigCipher } from '../encryption/config-cipher.js';

export interface StoredText {
  /** `HTTP 400`, or nothing. */
  readonly status: string;
  /** Null: the status says it all, or the text was removed. */
  readonly ciphertext: Uint8Array<ArrayBuffer> | null;
  readonly encryptionKeyId: string | null;
}

export function encryptText(cipher: ConfigCipher, text: string, owner: string): StoredText {
  const status = statusIn(text);
  if (text === status) return { status, ciphertext: null, encryptionKeyId: null };
  return { status, ...cipher.encrypt(text, owner) };
}

/** The status where the text was removed, or cannot be decrypted any more: an operator's page must not fail because of it. */
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

/** What the ciphertexts are bound to; `encryption-rotation.ts` says the same in SQL. */
export const ownerOfDeadLetter = (destinationId: string, generationId: string): string =>
  `dead letter ${destinationId} ${generationId}`;
export const ownerOfLastError = (destinationId: string): string => `last error ${destinationId}`;
