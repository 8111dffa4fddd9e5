// Which contents share a block, where each is found, and the contents of a block after reading.
import { describe, expect, it } from '@jest/globals';
import { contentOfText } from '../../../test/support/generations/generation.js';
import { readAppConfig } from '../../config/app-config.js';
import { ConfigCipher } from '../encryption/config-cipher.js';
import { packContents, unpackContents } from './content-blocks.js';
import type { ContentEntry, PackedContents } from './content-blocks.js';
import type { ContentBlockRow } from '../spend/spend-statements.js';

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

const ciphertextOf = ({ ciphertexts }: PackedContents, { first_byte, bytes }: ContentBlockRow) =>
  ciphertexts.subarray(first_byte - 1, first_byte - 1 + bytes);

const open = (packed: PackedContents) =>
  packed.blocks.map((row) =>
    Object.fromEntries(
      unpackContents(
        {
          generationId: row.generation_id,
          isShared: row.generation_ids !== null,
          ciphertext: ciphertextOf(packed, row),
          encryptionKeyId: row.encryption_key_id,
        },
        cipher,
      ),
    ),
  );

describe('packing', () => {
  it('packs fitting contents into one block, at the ordinal of the last', () => {
    const packed = packContents([entry('a', 'größer'), entry('b', null), entry('c', 'third')], cipher);
    const { blocks, locations } = packed;
    expect(blocks).toMatchObject([{ ordinal: 3, generation_ids: '{a,c}' }]);
    // A look-up of one content by its id does not find the block.
    expect(['a', 'c']).not.toContain(blocks[0]?.generation_id);
    expect(locations.map((location) => location?.ordinal)).toEqual([3, undefined, 3]);
    expect(locations.map((location) => location?.bytes)).toEqual([
      Buffer.byteLength(JSON.stringify(contentOfText('größer'))),
      undefined,
      JSON.stringify(contentOfText('third')).length,
    ]);
    expect(open(packed)).toEqual([{ a: contentOfText('größer'), c: contentOfText('third') }]);
  });

  it('writes a single content in the format without blocks', () => {
    const packed = packContents([entry('a', 'alone')], cipher);
    expect(packed.blocks).toMatchObject([{ generation_id: 'a', ordinal: 1, generation_ids: null }]);
    const [block] = packed.blocks as [ContentBlockRow];
    const encrypted = { ciphertext: ciphertextOf(packed, block), encryptionKeyId: block.encryption_key_id };
    expect(cipher.decrypt(encrypted, 'a')).toEqual(contentOfText('alone'));
  });

  it('never mixes workspaces', () => {
    const entries = [entry('a', '1'), entry('b', '2', 'two'), entry('c', '3'), entry('d', '4', 'two')];
    const packed = packContents(entries, cipher);
    const { blocks, locations } = packed;
    expect(open(packed)).toEqual([
      { a: contentOfText('1'), c: contentOfText('3') },
      { b: contentOfText('2'), d: contentOfText('4') },
    ]);
    expect(blocks.map((row) => row.workspace_id)).toEqual(['one', 'two']);
    expect(locations.map((location) => location?.ordinal)).toEqual([3, 4, 3, 4]);
  });

  it('begins another block where one would become too large', () => {
    const texts = ['small', 'x'.repeat(15_000), 'y'.repeat(20_000), 'small', 'small'];
    const entries = texts.map((text, index) => entry(String(index), text));
    const packed = packContents(entries, cipher);
    expect(open(packed).map(Object.keys)).toEqual([['0', '1'], ['2'], ['3', '4']]);
    expect(packed.locations.map((location) => location?.ordinal)).toEqual([2, 2, 3, 5, 5]);
  });

  it('stores nothing without contents', () => {
    expect(packContents([entry('a', null)], cipher)).toEqual({
      blocks: [],
      ciphertexts: Buffer.alloc(0),
      locations: [undefined],
    });
  });
});

describe('a block', () => {
  it('cannot be read under another id', () => {
    const packed = packContents([entry('a', '1'), entry('b', '2')], cipher);
    expect(() => open({ ...packed, blocks: [{ ...packed.blocks[0]!, generation_id: 'a' }] })).toThrow();
  });
});
