import { describe, expect, it } from '@jest/globals';
import { ConfigCipher } from './config-cipher.js';
import { readAppConfig } from '../../config/app-config.js';

const key = (byte: number) => Buffer.alloc(32, byte).toString('base64');
const cipherWith = (...keys: string[]) =>
  new ConfigCipher(
    readAppConfig({ DATABASE_URL: 'postgresql://localhost/x', ENCRYPTION_KEYS: keys.join(',') }, []),
  );

describe('the config cipher', () => {
  const secret = { apiKey: 'sk-very-secret', headers: { 'X-Token': 'also secret ✓' } };

  it('decrypts to the original value', () => {
    const cipher = cipherWith(key(1));
    expect(cipher.decrypt(cipher.encrypt(secret, 'row'), 'row')).toEqual(secret);
  });

  it('hides the value, and never writes the same bytes twice', () => {
    const cipher = cipherWith(key(1));
    const [one, two] = [cipher.encrypt(secret, 'row'), cipher.encrypt(secret, 'row')];
    expect(Buffer.from(one.ciphertext).toString('latin1')).not.toContain('secret');
    expect(one.ciphertext).not.toEqual(two.ciphertext);
  });

  it('uses a nonce once', () => {
    const cipher = cipherWith(key(1));
    const nonces = Array.from({ length: 600 }, (_, round) =>
      Buffer.from(cipher.encrypt({ round }, 'row').ciphertext.subarray(0, 12)).toString('hex'),
    );
    expect(new Set(nonces).size).toBe(nonces.length);
  });

  it('decrypts with an older key, and encrypts with the first one', () => {
    const encrypted = cipherWith(key(1)).encrypt(secret, 'row');
    const rotated = cipherWith(key(2), key(1));
    expect(rotated.decrypt(encrypted, 'row')).toEqual(secret);
    expect(rotated.encrypt(secret, 'row').encryptionKeyId).not.toBe(encrypted.encryptionKeyId);
  });

  it('names the key that is missing', () => {
    const encrypted = cipherWith(key(1)).encrypt(secret, 'row');
    expect(() => cipherWith(key(2)).decrypt(encrypted, 'row')).toThrow(encrypted.encryptionKeyId);
  });

  it('rejects changed bytes, and bytes of another row', () => {
    const cipher = cipherWith(key(1));
    const encrypted = cipher.encrypt(secret, 'row');
    const changed = Uint8Array.from(encrypted.ciphertext);
    changed[40] = (changed[40] ?? 0) ^ 1;
    expect(() => cipher.decrypt({ ...encrypted, ciphertext: changed }, 'row')).toThrow();
    expect(() => cipher.decrypt(encrypted, 'another row')).toThrow();
  });
});
