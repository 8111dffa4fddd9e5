// The contents that traces are built with, from memory for a while: what one destination has read for the others of its
// workspace. They never change.
import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import type { GenerationContent } from '../domain/generation-content.js';
import { GenerationReader } from '../persistence/generation-reader.js';
import type { LoggedGeneration } from '../persistence/generation-reader.js';

const MAX_BYTES = 64_000_000;
// What an entry takes beside its text.
const BYTES_AROUND = 500;
// Milliseconds: longer than most destinations gather.
const KEPT_FOR = 5_000;

/** Null: it is not stored. */
type Kept = Promise<GenerationContent | null>;

@Injectable()
export class TracedContents {
  private readonly kept = new LRUCache<string, Kept>({ maxSize: MAX_BYTES, ttl: KEPT_FOR });

  constructor(private readonly reader: GenerationReader) {}

  /** By the generation's id; what is not stored any more is left out. */
  async find(
    workspaceId: string,
    entries: readonly LoggedGeneration[],
  ): Promise<ReadonlyMap<string, GenerationContent>> {
    const asked = entries.map((entry) => ({ entry, kept: this.kept.get(entry.generation.id) }));
    const missing = asked.flatMap(({ entry, kept }) => (kept ? [] : [entry]));
    const read = missing.length === 0 ? null : this.read(workspaceId, missing);
    const found = new Map<string, GenerationContent>();
    for (const { entry, kept } of asked) {
      const { id } = entry.generation;
      const content = kept ? await kept : (await read)?.get(id);
      if (content) found.set(id, content);
    }
    return found;
  }

  /** One statement for all of them; whoever asks for one of them meanwhile waits for it. */
  private read(
    workspaceId: string,
    entries: readonly LoggedGeneration[],
  ): Promise<ReadonlyMap<string, GenerationContent>> {
    const read = this.reader.readContents(workspaceId, entries);
    for (const { generation, contentBytes } of entries) {
      const { id } = generation;
      const kept = read.then((contents) => contents.get(id) ?? null);
      // Whoever waits is told; the next one asks anew.
      kept.catch(() => this.kept.delete(id));
      this.kept.set(id, kept, { size: contentBytes + BYTES_AROUND });
    }
    return read;
  }
}
