import { describe, expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { readAppConfig } from '../../config/app-config.js';
import { WebhookSignatures } from './webhook-signatures.js';

const keyOf = (fill: number): string => Buffer.alloc(32, fill).toString('base64');
const signaturesWith = (...keys: readonly string[]): WebhookSignatures =>
  new WebhookSignatures(
    readAppConfig({ DATABASE_URL: 'postgresql://localhost/x', ENCRYPTION_KEYS: keys.join(',') }, []),
  );

const BODY = '{"resourceSpans":[{"text":"“🙂”"}]}';
// The verifier compares the time with its own clock.
const unsigned = { 'webhook-id': 'batch-1', 'webhook-timestamp': String(Math.floor(Date.now() / 1000)) };
const signed = (signatures: WebhookSignatures, destinationId: string): Record<string, string> => ({
  ...unsigned,
  ...signatures.headersFor(destinationId, {
    method: 'POST',
    url: 'https://x',
    headers: unsigned,
    body: BODY,
  }),
});

describe('a signed delivery', () => {
  const signatures = signaturesWith(keyOf(1));

  it('passes verification by the library of Standard Webhooks', () => {
    const verifier = new Webhook(signatures.secretOf('one'));
    expect(verifier.verify(BODY, signed(signatures, 'one'))).toEqual(JSON.parse(BODY));
  });

  it('is refused with another body, another id or the secret of another destination', () => {
    const headers = signed(signatures, 'one');
    const verifier = new Webhook(signatures.secretOf('one'));
    expect(() => verifier.verify(`${BODY} `, headers)).toThrow();
    expect(() => verifier.verify(BODY, { ...headers, 'webhook-id': 'batch-2' })).toThrow();
    expect(() => new Webhook(signatures.secretOf('two')).verify(BODY, headers)).toThrow();
  });

  it('passes verification with the old and the new secret during a key rotation', () => {
    const rotating = signaturesWith(keyOf(2), keyOf(1));
    for (const secret of [signatures.secretOf('one'), rotating.secretOf('one')])
      expect(new Webhook(secret).verify(BODY, signed(rotating, 'one'))).toEqual(JSON.parse(BODY));
    expect(rotating.secretOf('one')).not.toBe(signatures.secretOf('one'));
  });

  it('needs an id and a time', () => {
    const request = { method: 'POST', url: 'https://x', headers: {}, body: BODY } as const;
    expect(signatures.headersFor('one', request)).toEqual({});
  });
});
