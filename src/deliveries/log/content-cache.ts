// The contents that traces are built with, from memory for a while: what one destination has read for the others of its
// workspace. They never change.
import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import type { GenerationContent } from '../../domain/generations/generation-content.js';
import { GenerationReader, blocksOf } from '../../persistence/generations/generation-reader.js';
import type { BlockOfEntries, LoggedGeneration } from '../../persistence/generations/generation-reader.js';

const MAX_BYTES = 64_000_000;
// What a block takes beside its texts.
const BYTES_AROUND = 500;
// Milliseconds: longer than most destinations gather.
const KEPT_FOR = 5_000;

/** What one statement has found, by the generations' ids; what is not stored is not there. */
type Read = Promise<ReadonlyMap<string, GenerationContent>>;

@Injectable()
export class ContentCache {
  /** By the places of blocks: one for each content would cost more than to read it. */
  private readonly kept = new LRUCache<string, Read>({ maxSize: MAX_BYTES, ttl: KEPT_FOR });

  constructor(private readonly reader: GenerationReader) {}

  /** By the generation's id; what is not stored any more is left out. */
  async find(
    workspaceId: string,
    entries: readonly LoggedGeneration[],
  ): Promise<ReadonlyMap<string, GenerationContent>> {
    const asked = blocksOf(entries).map((block) => ({ block, kept: this.kept.get(blockKeyOf(block)) }));
    const missing = asked.flatMap(({ block, kept }) => (kept ? [] : [block]));
    const read = missing.length === 0 ? null : this.read(workspaceId, missing);
    const found = new Map<string, GenerationContent>();
    for (const { block, kept } of asked) {
      const contents = await (kept ?? read);
      for (const { generation } of block.entries) {
        const content = contents?.get(generation.id);
        if (content) found.set(generation.id, content);
      }
    }
    return found;
  }

  /** One statement for all of them; whoever asks for one of them meanwhile waits for it. */
  private read(workspaceId: string, blocks: readonly BlockOfEntries[]): Read {
    const read = this.reader.readContents(
      workspaceId,
      blocks.flatMap(({ entries }) => entries),
    );
    for (const block of blocks) {
      const size = block.entries.reduce((bytes, { contentBytes }) => bytes + contentBytes, BYTES_AROUND);
      this.kept.set(blockKeyOf(block), read, { size });
    }
    // Whoever waits is told; the next one asks anew.
    read.catch(() => {
      for (const block of blocks) this.kept.delete(blockKeyOf(block));
    });
    return read;
  }
}

function blockKeyOf({ transaction, ordinal }: BlockOfEntries): string {
  return `${transaction}:${ordinal}`;
}
