// Copies the contents of a step of the history, decrypted and in slices: few of them are in memory at once.
import { Injectable, Logger } from '@nestjs/common';
import type { GenerationContent } from '../domain/generations/generation-content.js';
import { GenerationReader } from '../persistence/generations/generation-reader.js';
import type { UnreadableBlock } from '../persistence/generations/generation-reader.js';
import type { ContentToCopy } from '../persistence/history/history-copy.repository.js';
import { ClickhouseClient } from './clickhouse-client.js';
import { historyContentsTable, historyInsert } from './history-tables.js';
import type { HistoryTarget } from './history-tables.js';
import type { CopiedContents } from './history-metrics.js';

interface SliceOptions {
  /** Bytes of a slice. A larger content has a slice of its own. */
  readonly maxBytes: number;
  /** Called before each slice; the copy ends early when it resolves with false. */
  readonly mayContinue: () => Promise<boolean>;
}

interface ReadContents {
  /** Rows of the table. */
  readonly lines: readonly string[];
  readonly unreadable: number;
}

@Injectable()
export class ContentCopier {
  private readonly logger = new Logger(ContentCopier.name);

  constructor(
    private readonly server: ClickhouseClient,
    private readonly reader: GenerationReader,
  ) {}

  /** Null: it ended early, and the step has to be copied again. A content that is no longer stored is skipped. */
  async copy(
    target: HistoryTarget,
    contents: readonly ContentToCopy[],
    { maxBytes, mayContinue }: SliceOptions,
  ): Promise<CopiedContents | null> {
    let copied = 0;
    let unreadable = 0;
    for (const slice of slicesOf(contents, maxBytes)) {
      if (!(await mayContinue())) return null;
      const read = await this.read(slice);
      if (read.lines.length > 0)
        await this.server.insert(
          historyInsert(target, historyContentsTable(target.database), read.lines.join('\n')),
        );
      copied += read.lines.length;
      unreadable += read.unreadable;
    }
    return { copied, unreadable };
  }

  private async read(slice: readonly ContentToCopy[]): Promise<ReadContents> {
    const lines: string[] = [];
    let unreadable = 0;
    const skip = ({ entries, generationId, error }: UnreadableBlock<ContentToCopy>): void => {
      unreadable += entries.length;
      this.logger.warn(
        { generationId, contents: entries.length, error },
        'failed to decrypt stored contents; the history does not get them',
      );
    };
    for (const workspaceId of new Set(slice.map((content) => content.workspaceId))) {
      const entries = slice.filter((content) => content.workspaceId === workspaceId);
      const stored = await this.reader.readBlocks(workspaceId, entries, skip);
      for (const entry of entries) {
        const content = stored.get(entry.id);
        if (content) lines.push(rowOf(entry, content));
      }
    }
    return { lines, unreadable };
  }
}

function* slicesOf(
  contents: readonly ContentToCopy[],
  maxBytes: number,
): Generator<readonly ContentToCopy[]> {
  let slice: ContentToCopy[] = [];
  let bytes = 0;
  for (const content of contents) {
    if (slice.length > 0 && bytes + content.bytes > maxBytes) {
      yield slice;
      slice = [];
      bytes = 0;
    }
    slice.push(content);
    bytes += content.bytes;
  }
  if (slice.length > 0) yield slice;
}

function rowOf(
  { workspaceId, createdAt, id, accountId, userId }: ContentToCopy,
  content: GenerationContent,
): string {
  return JSON.stringify({
    workspace_id: workspaceId,
    created_at: createdAt,
    id,
    account_id: accountId,
    user_id: userId,
    content: JSON.stringify(content),
  });
}
