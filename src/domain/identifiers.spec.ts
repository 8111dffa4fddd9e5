import { describe, expect, it } from '@jest/globals';
import { embeddingAnswerId, generationHeaderId, uuidV5, uuidV7 } from './identifiers.js';

describe('time-ordered identifiers', () => {
  const moment = new Date('2026-11-21T07:00:00.123Z');

  it('are UUIDs of version 7 that carry their millisecond', () => {
    const id = uuidV7(moment);
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(parseInt(id.replace('-', '').slice(0, 12), 16)).toBe(moment.getTime());
  });

  it('do not repeat', () => {
    expect(new Set(Array.from({ length: 5000 }, () => uuidV7(moment))).size).toBe(5000);
  });

  it('have one hexadecimal part in both wire forms', () => {
    const id = uuidV7(moment);
    expect(embeddingAnswerId(id).slice('embd-'.length)).toBe(generationHeaderId(id).slice('gen-'.length));
  });
});

it.each([
  ['6ba7b810-9dad-11d1-80b4-00c04fd430c8', 'www.example.com', '2ed6657d-e927-568b-95e1-2665a8aea6a2'],
  ['019a960b-d800-7000-8000-000000000000', 'default-guardrail', '226e9758-b2fc-58bb-8137-17f723775dba'],
])('the UUID of version 5 of %s and %s is the one of other libraries', (namespace, name, id) => {
  expect(uuidV5(namespace, name)).toBe(id);
});
