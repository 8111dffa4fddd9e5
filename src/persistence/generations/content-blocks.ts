// Contents of calls that are appended together are stored as blocks: what a row and an encryption cost is paid once for
// all of a block. A block holds contents of one workspace, small ones: whoever wants one of them reads all.
import { randomUUID } from 'node:crypto';
import type { GenerationContent } from '../../domain/generations/generation-content.js';
import type { Generation } from '../../domain/generations/generation.js';
import type { ConfigCipher, Encrypted } from '../encryption/config-cipher.js';

// Bytes. A content that is larger has a block of its own, and is as large as it is.
const MAX_BLOCK = 16_000;

/** What is appended, in the order of the batch. */
export interface ContentEntry {
  readonly generation: Pick<Generation, 'id' | 'workspaceId' | 'createdAt'>;
  readonly content: GenerationContent | null;
}

/** Where a generation's content stands: in the block at this ordinal of the same transaction. */
export interface ContentLocation {
  readonly ordinal: number;
  /** Of its own part of the block. */
  readonly bytes: number;
}

/**
 * A block as the statement reads it, at the place of its last generation. One of several generations has an id of its own:
 * a version without blocks, which may deliver beside this one, must not take it for the content of one of them.
 */
export interface ContentBlockRow {
  readonly generation_id: string;
  readonly workspace_id: string;
  readonly created_at: Date;
  readonly ordinal: number;
  /** Null when it holds nothing but the content of `generation_id`. */
  readonly generation_ids: string | null;
  readonly encryption_key_id: string;
  /** Where its ciphertext stands among those of all blocks, from 1 on. */
  readonly first_byte: number;
  readonly bytes: number;
}

export interface PackedContents {
  readonly blocks: readonly ContentBlockRow[];
  /** The blocks' ciphertexts, one after the other. */
  readonly ciphertexts: Buffer;
  /** Those of the entries, undefined where nothing is stored. */
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

/** Ordinals count from 1, as the entries stand. */
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
  // Ids are UUIDs: nothing of them has to be escaped.
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

/** A stored block, or what a version without blocks has stored of one generation. */
export interface StoredBlock extends Pick<Encrypted, 'encryptionKeyId'> {
  readonly generationId: string;
  /** Whether it holds contents by the ids of their generations, and not the one of `generationId`. */
  readonly isShared: boolean;
  readonly ciphertext: Uint8Array;
}

/** The contents of a block by their generations' ids. Throws what decrypting throws. */
export function unpackContents(
  block: StoredBlock,
  cipher: ConfigCipher,
): readonly (readonly [string, GenerationContent])[] {
  const value = cipher.decrypt(block, block.generationId);
  return block.isShared
    ? Object.entries(value as Record<string, GenerationContent>)
    : [[block.generationId, value as GenerationContent]];
}
