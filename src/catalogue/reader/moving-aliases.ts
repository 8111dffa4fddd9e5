// Reads moving aliases. A target may come from a later layer, or be gone: calls pass over one that is not in the catalogue.
import type { DatedTarget, MovingAlias } from '../moving-alias.js';
import type { Cursor } from './cursor.js';
import { given, readFlag, readId, readLabel } from './members.js';
import type { KnownModels } from './members.js';
import { readOrigin, readRows } from './prices.js';

export function readMovingAlias(cursor: Cursor, known: KnownModels<MovingAlias>): MovingAlias {
  const members = cursor.object(['id', 'name', 'targets', 'disabled']);
  const id = members.read('id', readAliasId);
  const base = known.get(id);
  return {
    ...base,
    id,
    name: members.read('name', readLabel, base?.name ?? id),
    targets: members.read('targets', readTargets, base?.targets),
    ...given('disabled', members.optional('disabled', readFlag)),
    endpoints: [],
  };
}

function readAliasId(cursor: Cursor): string {
  return cursor.text(/^~[\w.-]{1,100}\/[\w.-]{1,200}$/, 'of the form ~vendor/name');
}

function readTargets(cursor: Cursor): DatedTarget[] {
  const rows = readRows(
    cursor,
    (item) => {
      const row = item.object(['effective_from', 'source', 'target']);
      return { ...readOrigin(row), target: row.read('target', readId) };
    },
    'targets',
  );
  if (rows.length === 0) cursor.fail('must name at least one target');
  return rows.toSorted((one, other) => (one.effectiveFrom > other.effectiveFrom ? -1 : 1));
}
