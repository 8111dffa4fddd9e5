import { describe, expect, it } from '@jest/globals';
import { tracesAddress } from './address.js';

describe('tracesAddress', () => {
  it.each([
    ['https://otlp.example.com', '', 'https://otlp.example.com/v1/traces'],
    ['https://otlp.example.com/', '', 'https://otlp.example.com/v1/traces'],
    ['https://otlp.example.com/v1', '', 'https://otlp.example.com/v1/traces'],
    ['https://otlp.example.com/v1/traces', '', 'https://otlp.example.com/v1/traces'],
    ['https://otlp.example.com/v1/traces//', '', 'https://otlp.example.com/v1/traces'],
    [' otlp.example.com ', '', 'https://otlp.example.com/v1/traces'],
    ['http://10.0.0.7:4318', '', 'http://10.0.0.7:4318/v1/traces'],
    ['https://otlp.example.com/tenant?team=a', '', 'https://otlp.example.com/tenant/v1/traces?team=a'],
    ['https://gateway.example.com', '/otlp', 'https://gateway.example.com/otlp/v1/traces'],
    ['https://gateway.example.com/otlp', '/otlp', 'https://gateway.example.com/otlp/v1/traces'],
    ['https://gateway.example.com/otlp/v1', '/otlp', 'https://gateway.example.com/otlp/v1/traces'],
    ['https://gateway.example.com/otlp/v1/traces', '/otlp', 'https://gateway.example.com/otlp/v1/traces'],
    ['https://own.example.com/notlp', '/otlp', 'https://own.example.com/notlp/otlp/v1/traces'],
    ['https://own.example.com/api/v1', '/otel', 'https://own.example.com/api/v1/otel/v1/traces'],
    ['https://own.example.com/api', '/api/public/otel', 'https://own.example.com/api/public/otel/v1/traces'],
  ])('makes of %s under %j the address %s', (base, prefix, address) => {
    expect(tracesAddress(base, prefix)).toBe(address);
  });

  it.each(['', 'https://', '://', 'https://a b'])('leaves %j to the URL guard', (base) => {
    expect(URL.canParse(tracesAddress(base, '/otlp'))).toBe(false);
  });
});
