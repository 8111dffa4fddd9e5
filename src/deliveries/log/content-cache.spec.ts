// Which contents are read once, never, or again.
import { describe, expect, it } from '@jest/globals';
import type { GenerationContent } from '../../domain/generations/generation-content.js';
import type { GenerationReader, LoggedGeneration } from '../../persistence/generations/generation-reader.js';
import { contentOfText } from '../../../test/support/generations/generation.js';
import { ContentCache } from './content-cache.js';

/** Ids with the same first letter are in one block. */
const entry = (id: string) =>
  ({
    generation: { id },
    position: { transaction: BigInt(id.charCodeAt(0)), ordinal: 1 },
    contentOrdinal: 1,
    contentBytes: 10,
  }) as LoggedGeneration;

function createContents(stored: Record<string, GenerationContent>) {
  const reads: string[][] = [];
  let failure: Error | null = null;
  const reader = {
    readContents: async (_workspaceId: string, entries: readonly LoggedGeneration[]) => {
      const ids = entries.map(({ generation }) => generation.id);
      reads.push(ids);
      if (failure) throw failure;
      // A block is read as a whole, even for one of its entries.
      const firstLetters = new Set(ids.map((id) => id[0]));
      return new Map(Object.entries(stored).filter(([id]) => firstLetters.has(id[0])));
    },
  };
  const contents = new ContentCache(reader as unknown as GenerationReader);
  const find = async (...ids: string[]) =>
    Object.fromEntries(await contents.find('workspace', ids.map(entry)));
  return { find, reads, failWith: (error: Error | null) => (failure = error) };
}

describe('the contents of traces', () => {
  it('are read once for concurrent and later readers', async () => {
    const stored = { a: contentOfText('one'), b: contentOfText('two') };
    const { find, reads } = createContents(stored);
    expect(await Promise.all([find('a', 'b'), find('b', 'a')])).toEqual([stored, stored]);
    expect(await find('a')).toEqual({ a: stored.a });
    expect(reads).toEqual([['a', 'b']]);
  });

  it('of a whole block are cached after one was read, and of no other block', async () => {
    const stored = { a1: contentOfText('one'), a2: contentOfText('two'), b: contentOfText('three') };
    const { find, reads } = createContents(stored);
    expect(await find('a1')).toEqual({ a1: stored.a1 });
    expect(await find('a2', 'a3')).toEqual({ a2: stored.a2 });
    expect(await find('a2', 'b')).toEqual({ a2: stored.a2, b: stored.b });
    expect(reads).toEqual([['a1'], ['b']]);
  });

  it('are omitted when none are stored', async () => {
    const { find } = createContents({});
    expect(await find('a')).toEqual({});
  });

  it('are read again after a failed read, which fails all of its readers', async () => {
    const { find, failWith } = createContents({ a: contentOfText('one') });
    failWith(new Error('away'));
    const answers = await Promise.allSettled([find('a'), find('a')]);
    expect(answers.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    failWith(null);
    expect(await find('a')).toEqual({ a: contentOfText('one') });
  });
});
