import { describe, expect, it } from '@jest/globals';
import { embeddingAnswerId, generationHeaderId, uuidV7 } from './identifiers.js';

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
