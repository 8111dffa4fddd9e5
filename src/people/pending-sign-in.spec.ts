import { describe, expect, it } from '@jest/globals';
import { Clock } from '../domain/clock.js';
import { ConfigCipher } from '../persistence/encryption/config-cipher.js';
import { PendingSignIns } from './pending-sign-in.js';

const PENDING = {
  providerId: 'staff',
  state: 'a'.repeat(43),
  nonce: 'b'.repeat(43),
  verifier: 'c'.repeat(43),
  returnUrl: `https://gateway.example.com/${'d'.repeat(1_400)}`,
};
const TAG = '0123abcd';

class MovedClock extends Clock {
  moment = 1_790_000_000_000;
  override now(): Date {
    return new Date(this.moment);
  }
}

function create(publicUrl = 'https://gateway.example.com', byte = 1) {
  const clock = new MovedClock();
  const id = byte.toString(16).padStart(8, '0');
  const cipher = new ConfigCipher({ encryptionKeys: [{ id, bytes: Buffer.alloc(32, byte) }] });
  return { clock, cipher, signIns: new PendingSignIns(publicUrl, cipher, clock) };
}

const sent = (setCookie: string): string => setCookie.split(';')[0] ?? '';

describe('the cookie of a sign-in', () => {
  it('is for this host, TLS and navigations alone, and shows nothing', () => {
    const cookie = create().signIns.seal(PENDING, TAG);
    expect(cookie).toMatch(
      /^__Host-signalbox_sign_in_0123abcd=[\da-f]{8}\.[\w-]+; Path=\/; Max-Age=600; HttpOnly; SameSite=Lax; Secure$/,
    );
    for (const value of Object.values(PENDING)) expect(cookie).not.toContain(value);
    // Browsers drop longer ones.
    expect(cookie.length).toBeLessThan(4_096);
  });

  it('has a plain name on loopback without TLS', () => {
    const cookie = create('http://localhost:3000').signIns.seal(PENDING, TAG);
    expect(cookie).toMatch(/^signalbox_sign_in_0123abcd=\S+; Path=\/; Max-Age=600; HttpOnly; SameSite=Lax$/);
  });

  it('is opened among others', () => {
    const { signIns } = create();
    const cookies = `a=b; ${sent(signIns.seal(PENDING, TAG))}; c=d`;
    expect(signIns.open(cookies, TAG)).toEqual(PENDING);
  });

  it('is valid for 10 minutes', () => {
    const { signIns, clock } = create();
    const cookie = sent(signIns.seal(PENDING, TAG));
    clock.moment += 599_999;
    expect(signIns.open(cookie, TAG)).toEqual(PENDING);
    clock.moment += 1;
    expect(signIns.open(cookie, TAG)).toBeNull();
  });

  it('is none when it is absent, changed, of another key, installation or purpose', () => {
    const { signIns, cipher } = create();
    const cookie = sent(signIns.seal(PENDING, TAG));
    const other = cipher.encrypt({ ...PENDING, endsAt: Number.MAX_SAFE_INTEGER }, 'row');
    const ofRow = `${other.encryptionKeyId}.${Buffer.from(other.ciphertext).toString('base64url')}`;
    for (const [name, cookies] of Object.entries({
      absent: undefined,
      empty: '',
      changed: `${cookie.slice(0, -3)}AAA`,
      cut: cookie.slice(0, 60),
      row: `__Host-signalbox_sign_in_${TAG}=${ofRow}`,
      unprefixed: cookie.replace('__Host-', ''),
    }))
      expect([name, signIns.open(cookies, TAG)]).toEqual([name, null]);
    expect(signIns.open(cookie, 'ffffffff')).toBeNull();
    expect(create(undefined, 2).signIns.open(cookie, TAG)).toBeNull();
  });

  it('is removed by its name', () => {
    expect(create().signIns.remove(TAG)).toBe(
      `__Host-signalbox_sign_in_${TAG}=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax; Secure`,
    );
  });
});
