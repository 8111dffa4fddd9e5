// Results behind an unsettled trace, from one consumer of a destination to the next.
import { describe, expect, it } from '@jest/globals';
import { parseSnapshot } from '../../domain/destinations/delivery.js';
import type { TraceResult } from '../batches/batch-sender.js';
import { SettledAhead } from './settled-ahead.js';

const CURSOR = {
  destinationId: 'destination',
  position: { transaction: 7n, ordinal: 3 },
  start: parseSnapshot('5:5:'),
};
const RESULTS: ReadonlyMap<string, TraceResult> = new Map([['generation', { outcome: 'delivered' }]]);

function keptAt(cursor: typeof CURSOR): SettledAhead {
  const ahead = new SettledAhead();
  ahead.keep(cursor.destinationId, cursor, RESULTS);
  return ahead;
}

describe('SettledAhead', () => {
  it('returns the results once, where the cursor stands unchanged', () => {
    const ahead = keptAt(CURSOR);
    expect(ahead.take(CURSOR)).toEqual(RESULTS);
    expect(ahead.take(CURSOR)).toEqual(new Map());
  });

  it.each<[string, Partial<typeof CURSOR>]>([
    ['another position', { position: { transaction: 7n, ordinal: 2 } }],
    ['another start', { start: parseSnapshot('4:4:') }],
    ['another destination', { destinationId: 'other' }],
  ])('returns nothing for %s', (_name, change) => {
    expect(keptAt(CURSOR).take({ ...CURSOR, ...change })).toEqual(new Map());
  });
});
