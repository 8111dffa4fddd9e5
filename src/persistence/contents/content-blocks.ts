// Stores contents of calls that are appended together as blocks: a row and an encryption are paid once per block. A
// block holds small contents of one workspace; reading one content reads the whole block.
import { randomUUID } from 'node:crypto';
import type { GenerationContent } from '../../domain/generations/generation-content.js';
import type { Generation } from '../../domain/generations/generation.js';
import type { ConfigCipher, Encrypted } from '../encryption/config-cipher.js';
import type { ContentBlockRow } from '../spend/spend-statements.js';

// Bytes. A larger content gets a block of its own.
const MAX_BLOCK = 16_000;

/** An entry to append, in the order of the batch. */
export interface ContentEntry {
  readonly generation: Pick<Generation, 'id' | 'workspaceId' | 'createdAt'>;
  readonly content: GenerationContent | null;
}

/** The location of a generation's content: the block at this ordinal of the same transaction. */
export interface ContentLocation {
  readonly ordinal: number;
  /** The size of its own part of the block. */
  readonly bytes: number;
}

/**
 * A block as a parameter of the statement, at the ordinal of its last generation. A block of several generations has
 * an id of its own: a version without blocks that delivers at the same time must not read it as the content of one of
 * them.
 */
export interface PackedContents {
  readonly blocks: readonly ContentBlockRow[];
  /** The blocks' ciphertexts, concatenated. */
  readonly ciphertexts: Buffer;
  /** Locations of the entries; undefined where no content is stored. */
  readonly locations: readonly (ContentLocation | undefined)[];
}

interface Member {
  readonly generation: ContentEntry['generation'];
  readonly index: number;
  /** The content as JSON. */
  readonly text: string;
  readonly bytes: number;
}

interface OpenBlock {
  readonly members: Member[];
  bytes: number;
}

/** Ordinals count from 1, in the order of the entries. */
export function packContents(entries: readonly ContentEntry[], cipher: ConfigCipher): PackedContents {
  const locations: (ContentLocation | undefined)[] = [];
  const blocks: ContentBlockRow[] = [];
  const ciphertexts: Uint8Array[] = [];
  let firstByte = 1;
  const open = new Map<string, OpenBlock>();
  const close = ({ members }: OpenBlock): void => {
    const { block, ciphertext } = toBlock(members, cipher, firstByte);
    blocks.push(block);
    ciphertexts.push(ciphertext);
    firstByte += block.bytes;
    for (const { index, bytes } of members) locations[index] = { ordinal: block.ordinal, bytes };
  };
  for (const [index, { generation, content }] of entries.entries()) {
    locations.push(undefined);
    if (content === null) continue;
    const text = JSON.stringify(content);
    const bytes = Buffer.byteLength(text);
    let block = open.get(generation.workspaceId);
    if (block && block.bytes + bytes > MAX_BLOCK) {
      close(block);
      block = undefined;
    }
    if (!block) {
      block = { members: [], bytes: 0 };
      open.set(generation.workspaceId, block);
    }
    block.members.push({ generation, index, text, bytes });
    block.bytes += bytes;
  }
  for (const block of open.values()) close(block);
  return { blocks, ciphertexts: Buffer.concat(ciphertexts), locations };
}

function toBlock(
  members: readonly Member[],
  cipher: ConfigCipher,
  firstByte: number,
): { readonly block: ContentBlockRow; readonly ciphertext: Uint8Array } {
  const [last] = members.slice(-1) as [Member];
  const { workspaceId, createdAt } = last.generation;
  const isAlone = members.length === 1;
  const id = isAlone ? last.generation.id : randomUUID();
  // Ids are UUIDs and need no escaping.
  const text = isAlone
    ? last.text
    : `{${members.map((member) => `"${member.generation.id}":${member.text}`).join(',')}}`;
  const { ciphertext, encryptionKeyId } = cipher.encryptJson(text, id);
  const block = {
    generation_id: id,
    workspace_id: workspaceId,
    created_at: createdAt,
    ordinal: last.index + 1,
    generation_ids: isAlone ? null : `{${members.map(({ generation }) => generation.id).join(',')}}`,
    encryption_key_id: encryptionKeyId,
    first_byte: firstByte,
    bytes: ciphertext.length,
  };
  return { block, ciphertext };
}

/** A stored block, or the content of one generation as a version without blocks stored it. */
export interface StoredBlock extends Pick<Encrypted, 'encryptionKeyId'> {
  readonly generationId: string;
  /** Whether it holds contents by generation id, instead of the one of `generationId`. */
  readonly isShared: boolean;
  readonly ciphertext: Uint8Array;
}

/** The contents of a block by generation id. Throws the errors of decryption. */
export function unpackContents(
  block: StoredBlock,
  cipher: ConfigCipher,
): readonly (readonly [string, GenerationContent])[] {
  const value = cipher.decrypt(block, block.generationId);
  return block.isShared
    ? Object.entries(value as Record<string, GenerationContent>)
    : [[block.generationId, value as GenerationContent]];
}
