import { setImmediate as nextTurn } from 'node:timers/promises';
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

  it('gives back what it was given', () => {
    const cipher = cipherWith(key(1));
    expect(cipher.decrypt(cipher.encrypt(secret, 'row'), 'row')).toEqual(secret);
  });

  it('leaves nothing readable and never the same bytes twice', () => {
    const cipher = cipherWith(key(1));
    const [one, two] = [cipher.encrypt(secret, 'row'), cipher.encrypt(secret, 'row')];
    expect(Buffer.from(one.ciphertext).toString('latin1')).not.toContain('secret');
    expect(one.ciphertext).not.toEqual(two.ciphertext);
  });

  it('has a nonce of its own for each, however many it makes at once or one after the other', async () => {
    const cipher = cipherWith(key(1));
    const encrypted = [];
    for (let round = 0; round < 300; round++) {
      encrypted.push(...Array.from({ length: 1 + (round % 3) }, () => cipher.encrypt({ round }, 'row')));
      await nextTurn();
    }
    const nonces = encrypted.map(({ ciphertext }) => Buffer.from(ciphertext.subarray(0, 12)).toString('hex'));
    expect(new Set(nonces).size).toBe(encrypted.length);
    expect(encrypted.map((each) => cipher.decrypt(each, 'row'))).toEqual(
      Array.from({ length: 300 }, (_, round) =>
        Array.from({ length: 1 + (round % 3) }, () => ({ round })),
      ).flat(),
    );
  });

  it('reads with an older key what it would now encrypt with a newer one', () => {
    const encrypted = cipherWith(key(1)).encrypt(secret, 'row');
    const rotated = cipherWith(key(2), key(1));
    expect(rotated.decrypt(encrypted, 'row')).toEqual(secret);
    expect(rotated.encrypt(secret, 'row').encryptionKeyId).not.toBe(encrypted.encryptionKeyId);
  });

  it('names the key that is missing', () => {
    const encrypted = cipherWith(key(1)).encrypt(secret, 'row');
    expect(() => cipherWith(key(2)).decrypt(encrypted, 'row')).toThrow(encrypted.encryptionKeyId);
  });

  it('refuses changed bytes, and bytes of another row', () => {
    const cipher = cipherWith(key(1));
    const encrypted = cipher.encrypt(secret, 'row');
    const changed = Uint8Array.from(encrypted.ciphertext);
    changed[40] = (changed[40] ?? 0) ^ 1;
    expect(() => cipher.decrypt({ ...encrypted, ciphertext: changed }, 'row')).toThrow();
    expect(() => cipher.decrypt(encrypted, 'another row')).toThrow();
  });
});
