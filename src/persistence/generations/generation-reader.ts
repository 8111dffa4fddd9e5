// Reads the log in the order of commit for deliveries, and the stored contents.
import { Injectable, Logger } from '@nestjs/common';
import { Clock } from '../../domain/clock.js';
import { parseSnapshot } from '../../domain/destinations/delivery.js';
import type { LogPosition, LogSnapshot } from '../../domain/destinations/delivery.js';
import { AppError } from '../../domain/errors.js';
import type { Generation } from '../../domain/generations/generation.js';
import type { GenerationContent } from '../../domain/generations/generation-content.js';
import { ConfigCipher, MissingEncryptionKey } from '../encryption/config-cipher.js';
import { unpackContents } from '../contents/content-blocks.js';
import type { StoredBlock } from '../contents/content-blocks.js';
import { Database } from '../database/database.js';
import { FOREIGN_TRANSACTIONS, READ_BLOCKS, READ_NAMED, READ_PAGE } from './generation-reader-statements.js';
import { toGeneration } from './generation-row.js';
import type { GenerationRow } from './generation-row.js';

// Milliseconds within which all replicas get a new key, after the first one does.
const ROTATION_TIME = 15 * 60_000;

export interface LoggedGeneration {
  readonly position: LogPosition;
  readonly generation: Generation;
  /** Characters of the caller's trace object as JSON; 0 if it is empty. */
  readonly traceLength: number;
  /** The ordinal of its content in the same transaction, if one is stored. */
  readonly contentOrdinal: number;
  /** Bytes of its stored content; 0 when there is none. */
  readonly contentBytes: number;
}

/** An entry of the log with a content: it is in the block at `contentOrdinal` of the same transaction. */
interface EntryWithContent {
  readonly position: Pick<LogPosition, 'transaction'>;
  readonly contentOrdinal: number;
}

/** Entries whose contents share the block at this position; a block is read as a whole. */
export interface BlockOfEntries<Entry extends EntryWithContent = LoggedGeneration> {
  readonly transaction: bigint;
  readonly ordinal: number;
  readonly entries: Entry[];
}

/** A block of these entries that cannot be decrypted. */
export interface UnreadableBlock<Entry extends EntryWithContent> {
  readonly entries: readonly Entry[];
  /** The id that its ciphertext is bound to. */
  readonly generationId: string;
  readonly error: unknown;
}

export interface LogPage {
  readonly entries: readonly LoggedGeneration[];
  /** Whether there is more that an older open transaction holds back. */
  readonly isHeldBack: boolean;
  /** Whether more can be read at once. */
  readonly hasMore: boolean;
}

interface PageRow extends GenerationRow {
  readonly logTransaction: string;
  readonly logOrdinal: number;
  readonly contentOrdinal: number;
  readonly contentBytes: number;
  /** The snapshot of the page, in the numbers of the server. */
  readonly snapshot: string;
  readonly logOffset: string;
}

interface BlockRow extends StoredBlock {
  readonly transaction: string;
  readonly ordinal: number;
}

@Injectable()
export class GenerationReader {
  private readonly logger = new Logger(GenerationReader.name);

  constructor(
    private readonly database: Database,
    private readonly cipher: ConfigCipher,
    private readonly clock: Clock,
  ) {}

  /** At most `limit` generations after `after`, none created before `since`. */
  async readAfter(workspaceId: string, after: LogPosition, since: Date, limit: number): Promise<LogPage> {
    const rows = await this.database.query<PageRow>({
      name: 'read-log-page',
      text: READ_PAGE,
      values: [workspaceId, after.transaction, after.ordinal, since, limit],
    });
    const entries = rows.map(toEntry);
    const [first] = rows;
    const settled = first ? await this.takeSettled(entries, first) : [];
    const isHeldBack = settled.length < entries.length;
    return { entries: settled, isHeldBack, hasMore: !isHeldBack && rows.length === limit };
  }

  private async takeSettled(
    entries: readonly LoggedGeneration[],
    readWith: Pick<PageRow, 'snapshot' | 'logOffset'>,
  ): Promise<readonly LoggedGeneration[]> {
    const snapshot = parseSnapshot(readWith.snapshot);
    const offset = BigInt(readWith.logOffset);
    const before = (horizon: bigint): number => {
      const end = entries.findIndex(({ position }) => position.transaction >= horizon + offset);
      return end === -1 ? entries.length : end;
    };
    const count = before(snapshot.oldestOpen);
    if (count === entries.length) return entries;
    const foreign = await this.database.query<{ id: string }>({
      name: 'foreign-transactions',
      text: FOREIGN_TRANSACTIONS,
    });
    return entries.slice(0, before(oldestOpenBut(snapshot, new Set(foreign.map(({ id }) => BigInt(id))))));
  }

  /** Single generations in any order, without missing ones. */
  async readNamed(
    workspaceId: string,
    names: readonly Pick<Generation, 'id' | 'createdAt'>[],
  ): Promise<readonly LoggedGeneration[]> {
    if (names.length === 0) return [];
    const times = names.map(({ createdAt }) => createdAt);
    const inOrder = times.toSorted((one, other) => one.getTime() - other.getTime());
    const rows = await this.database.query<PageRow>({
      name: 'read-log-named',
      text: READ_NAMED,
      values: [workspaceId, times, names.map(({ id }) => id), inOrder[0], inOrder.at(-1)],
    });
    return rows.map(toEntry);
  }

  /**
   * The stored contents by generation id, including others of the same blocks and without missing ones. Throws
   * `unavailable` while an unknown key may still become known to this process.
   */
  async readContents(
    workspaceId: string,
    entries: readonly LoggedGeneration[],
  ): Promise<ReadonlyMap<string, GenerationContent>> {
    return this.readBlocks(workspaceId, entries, ({ generationId, error }) => {
      // During a rotation another replica may use a key that this one gets soon.
      const isYoung = ({ generation }: LoggedGeneration) =>
        this.clock.now().getTime() - generation.createdAt.getTime() < ROTATION_TIME;
      if (error instanceof MissingEncryptionKey && entries.some(isYoung)) throw notKnownYet(error);
      // A key that was removed too early: the traces are delivered without their content.
      this.logger.warn(
        { generationId, error },
        'failed to decrypt stored contents; the trace is delivered without its input',
      );
    });
  }

  /** As readContents(); `onUnreadable` decides about the blocks that cannot be decrypted. */
  async readBlocks<Entry extends EntryWithContent>(
    workspaceId: string,
    entries: readonly Entry[],
    onUnreadable: (block: UnreadableBlock<Entry>) => void,
  ): Promise<ReadonlyMap<string, GenerationContent>> {
    if (entries.length === 0) return new Map();
    const blocks = blocksOf(entries);
    const rows = await this.database.query<BlockRow>({
      name: 'read-content-blocks',
      text: READ_BLOCKS,
      values: [
        workspaceId,
        blocks.map(({ transaction }) => transaction),
        blocks.map(({ ordinal }) => ordinal),
      ],
    });
    const contents = new Map<string, GenerationContent>();
    for (const row of rows) {
      try {
        for (const [id, content] of unpackContents(row, this.cipher)) contents.set(id, content);
      } catch (error) {
        const isOfRow = ({ transaction, ordinal }: BlockOfEntries<Entry>) =>
          String(transaction) === row.transaction && ordinal === row.ordinal;
        const ofRow = blocks.filter(isOfRow).flatMap((block) => block.entries);
        onUnreadable({ entries: ofRow, generationId: row.generationId, error });
      }
    }
    return contents;
  }
}

function notKnownYet(cause: MissingEncryptionKey): AppError {
  const detail = 'this process does not know the encryption key of the content yet';
  return new AppError('unavailable', { detail, headers: { 'Retry-After': '60' }, cause });
}

/**
 * The blocks that hold the contents of these entries. Entries of one block are adjacent in the log of a workspace.
 */
export function blocksOf<Entry extends EntryWithContent>(
  entries: readonly Entry[],
): readonly BlockOfEntries<Entry>[] {
  const blocks: BlockOfEntries<Entry>[] = [];
  for (const entry of entries) {
    const { transaction } = entry.position;
    const ordinal = entry.contentOrdinal;
    const last = blocks.at(-1);
    if (last?.transaction === transaction && last.ordinal === ordinal) last.entries.push(entry);
    else blocks.push({ transaction, ordinal, entries: [entry] });
  }
  return blocks;
}

// PostgreSQL shows the number of a running transaction without its epoch.
const EPOCH = 2n ** 32n;

/** The oldest open transaction, except `others` (numbers without epoch). */
function oldestOpenBut({ open, next }: LogSnapshot, others: ReadonlySet<bigint>): bigint {
  return [...open].reduce((oldest, id) => (id < oldest && !others.has(id % EPOCH) ? id : oldest), next);
}

function toEntry(row: PageRow): LoggedGeneration {
  const generation = toGeneration(row);
  return {
    position: { transaction: BigInt(row.logTransaction), ordinal: row.logOrdinal },
    generation,
    traceLength: generation.trace === null ? 0 : JSON.stringify(generation.trace).length,
    contentOrdinal: row.contentOrdinal,
    contentBytes: row.contentBytes,
  };
}
