import { describe, expect, it } from '@jest/globals';
import * as fc from '../../../test/support/fast-check.js';
import { mergePages } from './generation-list.js';
import type { GenerationPage, ListPosition } from './generation-list.js';
import type { Generation } from './generation.js';

const isBefore = (one: ListPosition, other: ListPosition): boolean =>
  one.createdAt < other.createdAt ||
  (one.createdAt.getTime() === other.createdAt.getTime() && one.id < other.id);

/** A page of one workspace, which may end before it is full. */
function pageOf(
  rows: readonly Generation[],
  after: ListPosition | null,
  { limit, searched }: { readonly limit: number; readonly searched: number },
): GenerationPage {
  const rest = rows.filter((row) => after === null || isBefore(row, after));
  const generations = rest.slice(0, Math.min(limit, searched));
  const next = rest.length > generations.length ? (generations.at(-1) ?? null) : null;
  const isCut = next !== null && generations.length < limit;
  return { generations, next, searchedUntil: isCut ? next.createdAt : null };
}

const row = fc.record({ time: fc.nat({ max: 20 }), workspace: fc.nat({ max: 3 }) });

describe('pages of several workspaces', () => {
  it('list every call once, newest first, wherever the lists of the workspaces end', () => {
    fc.assert(
      fc.property(
        fc.array(row, { maxLength: 40 }),
        fc.integer({ min: 1, max: 5 }),
        fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 4, maxLength: 4 }),
        (rows, limit, searched) => {
          const all = rows
            .map(
              ({ time, workspace }, index) =>
                ({
                  id: String(index).padStart(3, '0'),
                  workspaceId: String(workspace),
                  createdAt: new Date(time),
                }) as Generation,
            )
            .toSorted((one, other) => (isBefore(one, other) ? 1 : -1));
          const seen: string[] = [];
          let after: ListPosition | null = null;
          for (let count = 0; count <= rows.length + 1; count += 1) {
            const pages = searched.map((rowsOfWalk, workspace) =>
              pageOf(
                all.filter(({ workspaceId }) => workspaceId === String(workspace)),
                after,
                { limit, searched: rowsOfWalk },
              ),
            );
            const merged: GenerationPage = mergePages(pages, limit);
            expect(merged.generations.length).toBeLessThanOrEqual(limit);
            seen.push(...merged.generations.map(({ id }) => id));
            after = merged.next;
            if (after === null) break;
          }
          expect(after).toBeNull();
          expect(seen).toEqual(all.map(({ id }) => id));
        },
      ),
    );
  });
});
