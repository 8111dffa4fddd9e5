// Reads the log in the order of commit, for those who forward it, and the stored contents of what was read.
import { Injectable, Logger } from '@nestjs/common';
import { Clock } from '../../domain/clock.js';
import { parseSnapshot } from '../../domain/destinations/delivery.js';
import type { LogPosition, LogSnapshot } from '../../domain/destinations/delivery.js';
import { AppError } from '../../domain/errors.js';
import type { Generation } from '../../domain/generations/generation.js';
import type { GenerationContent } from '../../domain/generations/generation-content.js';
import { ConfigCipher, MissingEncryptionKey } from '../encryption/config-cipher.js';
import { unpackContents } from './content-blocks.js';
import type { StoredBlock } from './content-blocks.js';
import { Database } from '../database/database.js';
import { LOG_OFFSET } from './log-offset.js';
import { toGeneration } from './generation-row.js';
import type { GenerationRow } from './generation-row.js';
import { opaqueArray } from '../database/rows/opaque-array.js';

// Milliseconds in which all replicas know the same keys, after the first of them does.
const ROTATION_TIME = 15 * 60_000;

export interface LoggedGeneration {
  readonly position: LogPosition;
  readonly generation: Generation;
  /** Characters of what its caller has said of the trace, as JSON; 0 where that is nothing. */
  readonly traceLength: number;
  /** Where in the same transaction its content stands, if one is stored. */
  readonly contentOrdinal: number;
  /** Bytes of its stored content; 0 when there is none. */
  readonly contentBytes: number;
}

/** Entries whose contents stand in one block, at this place of the log; it is read as a whole. */
export interface BlockOfEntries {
  readonly transaction: bigint;
  readonly ordinal: number;
  readonly entries: LoggedGeneration[];
}

export interface LogPage {
  readonly entries: readonly LoggedGeneration[];
  /** Whether there is more that cannot be read yet, because an older transaction is still open. */
  readonly isHeldBack: boolean;
  /** Whether there is more that can be read at once. */
  readonly hasMore: boolean;
}

interface PageRow extends GenerationRow {
  readonly logTransaction: string;
  readonly logOrdinal: number;
  readonly contentOrdinal: number;
  readonly contentBytes: number;
  /** The snapshot that the page was read with, in the numbers of the server. */
  readonly snapshot: string;
  readonly logOffset: string;
}

const COLUMNS = Object.entries({
  id: 'id',
  workspaceId: 'workspace_id',
  createdAt: 'created_at',
  logTransaction: 'log_transaction',
  logOrdinal: 'log_ordinal',
  accountId: 'account_id',
  apiKeyId: 'api_key_id',
  operation: 'operation',
  model: 'model',
  endpoint: 'endpoint',
  provider: 'provider',
  upstreamId: 'upstream_id',
  status: 'status',
  errorType: 'error_type',
  inputCount: 'input_count',
  promptTokens: 'prompt_tokens',
  totalTokens: 'total_tokens',
  cost: 'cost',
  upstreamCost: 'upstream_cost',
  isByok: 'is_byok',
  dimensions: 'dimensions',
  encodingFormat: 'encoding_format',
  inputType: 'input_type',
  durationMs: 'duration_ms',
  upstreamMs: 'upstream_ms',
  userId: 'user_id',
  sessionId: 'session_id',
  requestId: 'request_id',
  region: 'region',
  trace: 'trace',
  requestContext: 'request_context',
  attempts: 'attempts',
} satisfies Record<
  Exclude<keyof PageRow, 'contentOrdinal' | 'contentBytes' | 'snapshot' | 'logOffset'>,
  string
>)
  .map(([member, column]) => `generation.${column} AS "${member}"`)
  .join(', ');

// Of rows that versions without blocks have written.
const BYTES_OF_OWN_ROW = `
SELECT octet_length(content.ciphertext) FROM generation_contents AS content
WHERE content.workspace_id = generation.workspace_id AND content.created_at = generation.created_at
  AND content.generation_id = generation.id`;

const SELECT = `
SELECT ${COLUMNS}, coalesce(generation.content_ordinal, generation.log_ordinal) AS "contentOrdinal",
  coalesce(generation.content_bytes, (${BYTES_OF_OWN_ROW}), 0) AS "contentBytes",
  (SELECT pg_current_snapshot()::text) AS snapshot, ${LOG_OFFSET} AS "logOffset"
FROM generations AS generation`;

/**
 * Numbers of transactions become visible out of order: a reader that trusted `> cursor` alone would pass over what an
 * older transaction commits later. So only what is older than every open transaction may be taken (docs/decisions).
 * The snapshot is the statement's own. The bound on created_at is what lets PostgreSQL leave older partitions out.
 */
const READ_PAGE = `${SELECT}
WHERE generation.workspace_id = $1 AND (generation.log_transaction, generation.log_ordinal) > ($2, $3)
  AND generation.created_at >= $4
ORDER BY generation.log_transaction, generation.log_ordinal LIMIT $5`;

/**
 * Snapshots know the transactions of the whole server, and those of its other databases can hold nothing back here. One
 * whose number this role may not see stays in the way until it ends: nothing is lost by it.
 */
const FOREIGN_TRANSACTIONS = `
SELECT backend_xid::text AS id FROM pg_stat_activity
WHERE backend_xid IS NOT NULL AND datname <> current_database()`;

// Both one by one, by an index: of two lists to be found in a table the planner makes two bitmaps, and one of them of all
// that the workspace has there.
const READ_NAMED = `
SELECT found.* FROM unnest(${opaqueArray('$2', 'timestamptz')}, ${opaqueArray('$3', 'uuid')}) AS named (created_at, id)
CROSS JOIN LATERAL (
  ${SELECT} WHERE generation.workspace_id = $1 AND generation.created_at = named.created_at AND generation.id = named.id LIMIT 1
) AS found`;

const READ_BLOCKS = `
SELECT found.* FROM unnest(${opaqueArray('$2', 'bigint')}, ${opaqueArray('$3', 'integer')}) AS place (transaction, ordinal)
CROSS JOIN LATERAL (
  SELECT generation_id AS "generationId", generation_ids IS NOT NULL AS "isShared", ciphertext,
    encryption_key_id AS "encryptionKeyId"
  FROM generation_contents AS content
  WHERE content.workspace_id = $1 AND content.log_transaction = place.transaction AND content.log_ordinal = place.ordinal LIMIT 1
) AS found`;

@Injectable()
export class GenerationReader {
  private readonly logger = new Logger(GenerationReader.name);

  constructor(
    private readonly database: Database,
    private readonly cipher: ConfigCipher,
    private readonly clock: Clock,
  ) {}

  /** What follows `after`, at most `limit`, nothing made before `since`. */
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

  /** Single generations, in no order; what is not there any more is left out. */
  async readNamed(
    workspaceId: string,
    names: readonly Pick<Generation, 'id' | 'createdAt'>[],
  ): Promise<readonly LoggedGeneration[]> {
    if (names.length === 0) return [];
    const rows = await this.database.query<PageRow>({
      name: 'read-log-named',
      text: READ_NAMED,
      values: [workspaceId, names.map(({ createdAt }) => createdAt), names.map(({ id }) => id)],
    });
    return rows.map(toEntry);
  }

  /**
   * The stored contents by the generation's id, with those that stand in the same blocks; what is not stored any more is
   * left out. Throws `unavailable` for as long as a key that is not known here may become so.
   */
  async readContents(
    workspaceId: string,
    entries: readonly LoggedGeneration[],
  ): Promise<ReadonlyMap<string, GenerationContent>> {
    if (entries.length === 0) return new Map();
    const blocks = blocksOf(entries);
    const rows = await this.database.query<StoredBlock>({
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
        // While keys are rotated another replica may know one that will be known here soon.
        const isYoung = ({ generation }: LoggedGeneration) =>
          this.clock.now().getTime() - generation.createdAt.getTime() < ROTATION_TIME;
        if (error instanceof MissingEncryptionKey && entries.some(isYoung)) throw notKnownYet(error);
        // One that was taken away too early: the traces go without their content.
        this.logger.warn({ generationId: row.generationId, error }, 'stored contents cannot be read');
      }
    }
    return contents;
  }
}

function notKnownYet(cause: MissingEncryptionKey): AppError {
  const detail = 'the key that this content is encrypted with is not known to this process yet';
  return new AppError('unavailable', { detail, headers: { 'Retry-After': '60' }, cause });
}

/** The blocks that hold the contents of these entries. In the log of a workspace those of one block stand together. */
export function blocksOf(entries: readonly LoggedGeneration[]): readonly BlockOfEntries[] {
  const blocks: BlockOfEntries[] = [];
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

/** The oldest transaction that was open, those of `others` (numbers without epoch) left out. */
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
