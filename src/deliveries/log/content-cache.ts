// Caches the contents of traces for a short time, so that the destinations of a workspace share one read. Contents
// never change.
import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import type { GenerationContent } from '../../domain/generations/generation-content.js';
import { GenerationReader, blocksOf } from '../../persistence/generations/generation-reader.js';
import type { BlockOfEntries, LoggedGeneration } from '../../persistence/generations/generation-reader.js';

const MAX_BYTES = 64_000_000;
// Bytes of a block without its texts.
const BYTES_AROUND = 500;
// Milliseconds: longer than most destinations collect a batch.
const KEPT_FOR = 5_000;

/** The result of one statement by generation id. Contents that are not stored have no entry. */
type Read = Promise<ReadonlyMap<string, GenerationContent>>;

@Injectable()
export class ContentCache {
  /** Keyed by the position of a block: one entry for each content would cost more than the read. */
  private readonly kept = new LRUCache<string, Read>({ maxSize: MAX_BYTES, ttl: KEPT_FOR });

  constructor(private readonly reader: GenerationReader) {}

  /** Returns contents by generation id. Contents that are no longer stored are omitted. */
  async find(
    workspaceId: string,
    entries: readonly LoggedGeneration[],
  ): Promise<ReadonlyMap<string, GenerationContent>> {
    const blocks = blocksOf(entries).map((block) => ({ block, kept: this.kept.get(blockKeyOf(block)) }));
    const missing = blocks.flatMap(({ block, kept }) => (kept ? [] : [block]));
    const read = missing.length === 0 ? null : this.read(workspaceId, missing);
    const found = new Map<string, GenerationContent>();
    for (const { block, kept } of blocks) {
      const contents = await (kept ?? read);
      for (const { generation } of block.entries) {
        const content = contents?.get(generation.id);
        if (content) found.set(generation.id, content);
      }
    }
    return found;
  }

  /** One statement reads all blocks; concurrent readers of any of them wait for it. */
  private read(workspaceId: string, blocks: readonly BlockOfEntries[]): Read {
    const read = this.reader.readContents(
      workspaceId,
      blocks.flatMap(({ entries }) => entries),
    );
    for (const block of blocks) {
      const size = block.entries.reduce((bytes, { contentBytes }) => bytes + contentBytes, BYTES_AROUND);
      this.kept.set(blockKeyOf(block), read, { size });
    }
    // A failed read fails its waiting readers. The next reader tries again.
    read.catch(() => {
      for (const block of blocks) this.kept.delete(blockKeyOf(block));
    });
    return read;
  }
}

function blockKeyOf({ transaction, ordinal }: BlockOfEntries): string {
  return `${transaction}:${ordinal}`;
}
