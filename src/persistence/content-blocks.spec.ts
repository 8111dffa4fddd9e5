// Which contents share a block, where each is to be found, and what comes out of a block again.
import { describe, expect, it } from '@jest/globals';
import { contentOfText } from '../../test/support/generation.js';
import { readAppConfig } from '../config/app-config.js';
import { ConfigCipher } from './config-cipher.js';
import { packContents, unpackContents } from './content-blocks.js';
import type { ContentBlockRow, ContentEntry } from './content-blocks.js';

const cipher = new ConfigCipher(
  readAppConfig(
    { DATABASE_URL: 'postgresql://localhost/x', ENCRYPTION_KEYS: Buffer.alloc(32, 1).toString('base64') },
    [],
  ),
);

const entry = (id: string, text: string | null, workspaceId = 'one'): ContentEntry => ({
  generation: { id, workspaceId, createdAt: new Date(0) },
  content: text === null ? null : contentOfText(text),
});

const open = (row: ContentBlockRow) =>
  Object.fromEntries(
    unpackContents(
      {
        generationId: row.generation_id,
        isShared: row.generation_ids !== null,
        ciphertext: Buffer.from(row.ciphertext, 'base64'),
        encryptionKeyId: row.encryption_key_id,
      },
      cipher,
    ),
  );

describe('packing', () => {
  it('makes one block of what fits, at the place of the last', () => {
    const { blocks, places } = packContents(
      [entry('a', 'größer'), entry('b', null), entry('c', 'third')],
      cipher,
    );
    expect(blocks).toMatchObject([{ ordinal: 3, generation_ids: '{a,c}' }]);
    // Nobody who looks for the content of one of them by its id finds the block.
    expect(['a', 'c']).not.toContain(blocks[0]?.generation_id);
    expect(places.map((place) => place?.ordinal)).toEqual([3, undefined, 3]);
    expect(places.map((place) => place?.bytes)).toEqual([
      Buffer.byteLength(JSON.stringify(contentOfText('größer'))),
      undefined,
      JSON.stringify(contentOfText('third')).length,
    ]);
    expect(open(blocks[0]!)).toEqual({ a: contentOfText('größer'), c: contentOfText('third') });
  });

  it('writes one content alone as it has always been written', () => {
    const { blocks } = packContents([entry('a', 'alone')], cipher);
    expect(blocks).toMatchObject([{ generation_id: 'a', ordinal: 1, generation_ids: null }]);
    const [{ ciphertext, encryption_key_id: encryptionKeyId }] = blocks as [ContentBlockRow];
    expect(cipher.decrypt({ ciphertext: Buffer.from(ciphertext, 'base64'), encryptionKeyId }, 'a')).toEqual(
      contentOfText('alone'),
    );
  });

  it('never brings workspaces together', () => {
    const entries = [entry('a', '1'), entry('b', '2', 'two'), entry('c', '3'), entry('d', '4', 'two')];
    const { blocks, places } = packContents(entries, cipher);
    expect(blocks.map(open)).toEqual([
      { a: contentOfText('1'), c: contentOfText('3') },
      { b: contentOfText('2'), d: contentOfText('4') },
    ]);
    expect(blocks.map((row) => row.workspace_id)).toEqual(['one', 'two']);
    expect(places.map((place) => place?.ordinal)).toEqual([3, 4, 3, 4]);
  });

  it('begins another block where one would become large', () => {
    const texts = ['small', 'x'.repeat(15_000), 'y'.repeat(20_000), 'small', 'small'];
    const entries = texts.map((text, index) => entry(String(index), text));
    const { blocks, places } = packContents(entries, cipher);
    expect(blocks.map((row) => Object.keys(open(row)))).toEqual([['0', '1'], ['2'], ['3', '4']]);
    expect(places.map((place) => place?.ordinal)).toEqual([2, 2, 3, 5, 5]);
  });

  it('stores nothing where there is nothing', () => {
    expect(packContents([entry('a', null)], cipher)).toEqual({
      blocks: [],
      places: [undefined],
    });
  });
});

describe('a block', () => {
  it('cannot be read under another id', () => {
    const { blocks } = packContents([entry('a', '1'), entry('b', '2')], cipher);
    expect(() => open({ ...blocks[0]!, generation_id: 'a' })).toThrow();
  });
});
