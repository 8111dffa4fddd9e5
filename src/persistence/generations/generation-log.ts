// The durable log of generations and the settlement of their cost: many calls in one statement and one commit.
import { Injectable } from '@nestjs/common';
import type { BeforeApplicationShutdown } from '@nestjs/common';
import { AppConfig } from '../../config/app-config.js';
import { Tracing } from '../../config/tracing/tracing.js';
import type { GenerationContent } from '../../domain/generations/generation-content.js';
import type { Generation } from '../../domain/generations/generation.js';
import { formatUsd } from '../../domain/spend/money.js';
import type { PicoUsd } from '../../domain/spend/money.js';
import type { SpendRelease } from '../../domain/spend/spend-limit.js';
import { utcDay } from '../../domain/spend/spend.js';
import { MicroBatcher } from '../../concurrency/micro-batcher.js';
import { LapsedLease, STATEMENT_FAILURES } from '../database/database-errors.js';
import { ConfigCipher } from '../encryption/config-cipher.js';
import { packContents } from '../contents/content-blocks.js';
import type { ContentLocation } from '../contents/content-blocks.js';
import { DatabaseMetrics } from '../database/database-metrics.js';
import { Database } from '../database/database.js';
import { storedFacts } from './chat-row.js';
import { storedAttempts } from './generation-row.js';
import { writeRecords } from '../database/rows/record-rows.js';
import { LapsedReservations } from '../spend/lapsed-reservations.js';
import { describeSpend } from '../spend/spend-changes.js';
import { StorageUsage } from '../contents/storage-usage.js';
import {
  APPEND_AND_SETTLE,
  BLOCK_COLUMNS,
  GENERATION_COLUMNS,
  IS_LOGGED,
} from '../spend/spend-statements.js';
import type { GenerationRow } from '../spend/spend-statements.js';

// One batch at a time: two would only wait for each other's counters.
const LIMITS = { maxBatch: 500, maxInFlight: 1, maxWaiting: 20_000, ...STATEMENT_FAILURES };

interface Entry {
  readonly generation: Generation;
  readonly releases: readonly SpendRelease[];
  readonly content: GenerationContent | null;
  /** USD of its providers' bills that no caller pays, as far as they count towards the limit of its key. */
  readonly unpaid: PicoUsd;
}

@Injectable()
export class GenerationLog implements BeforeApplicationShutdown {
  private readonly batcher: MicroBatcher<Entry, void>;

  constructor(
    private readonly database: Database,
    private readonly cipher: ConfigCipher,
    private readonly metrics: DatabaseMetrics,
    private readonly tracing: Tracing,
    private readonly storage: StorageUsage,
    private readonly lapsed: LapsedReservations,
    private readonly config: AppConfig,
  ) {
    this.batcher = new MicroBatcher<Entry, void>((entries) => this.write(entries), LIMITS, dayOf);
  }

  /**
   * Resolves when the generation and its cost are committed: only then may the caller see the response. The cost
   * replaces the reservations in `releases`. A failure invalidates their leases, since the statement may have been
   * committed all the same, or may be later. A call whose lease has lapsed is charged what its limits still have.
   * `content` is stored encrypted beside the log.
   */
  async append(
    generation: Generation,
    releases: readonly SpendRelease[] = [],
    content: GenerationContent | null = null,
    unpaid: PicoUsd = 0n,
  ): Promise<void> {
    for (const release of releases) release.handOver();
    try {
      await this.tracing.span('append to the log', { kind: 'internal' }, (span) => {
        span?.setAttribute('signalbox.generation_id', generation.id);
        return this.settle({ generation, releases, content, unpaid });
      });
    } catch (error) {
      for (const { lease } of releases) lease.invalidate();
      throw error;
    }
  }

  private async settle(entry: Entry): Promise<void> {
    try {
      await this.batcher.add(entry);
    } catch (error) {
      if (!(error instanceof LapsedLease)) throw error;
      await this.settle({ ...entry, ...(await this.lapsed.reserveAgain(entry, error)) });
    }
  }

  /** Whether an append whose outcome is unknown was committed. */
  async has({ id, workspaceId, createdAt }: Generation): Promise<boolean> {
    const values = [workspaceId, createdAt, id, utcDay(createdAt)];
    return (await this.database.query({ text: IS_LOGGED, values })).length > 0;
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.batcher.drain();
    // Sums that are not exchanged are lost; an unreachable database must not fail the shutdown.
    await this.storage.exchange().catch(() => undefined);
  }

  /** All of one UTC day, so that the statement can decide for each window whether it continues or restarts. */
  private async write(entries: readonly Entry[]): Promise<[]> {
    const [first] = entries;
    if (!first) return [];
    const generations = entries.map(({ generation }) => generation);
    const { blocks, ciphertexts, locations } = packContents(entries, this.cipher);
    const spend = describeSpend(
      generations,
      entries.flatMap(({ releases }) => releases),
      entries.map(({ unpaid }) => unpaid),
    );
    const { maxUnpaid } = this.config;
    const bytes = new Map<string, number>();
    const statement = {
      name: 'append-and-settle',
      text: APPEND_AND_SETTLE,
      values: [
        writeRecords(
          GENERATION_COLUMNS,
          generations.map((generation, index) => toRow(generation, locations[index])),
          ({ workspace_id: id }, length) => bytes.set(id as string, (bytes.get(id as string) ?? 0) + length),
        ),
        writeRecords(BLOCK_COLUMNS, blocks),
        ciphertexts,
        dayOf(first),
        spend.releases,
        spend.changes,
        spend.unpaid,
        maxUnpaid === null ? null : formatUsd(maxUnpaid),
      ],
    };
    await this.metrics.batch(entries.length, () => this.database.query(statement));
    for (const [workspaceId, length] of bytes) this.storage.add(workspaceId, dayOf(first), length, 0);
    for (const block of blocks) this.storage.add(block.workspace_id, dayOf(first), 0, block.bytes);
    return [];
  }
}

function dayOf({ generation }: Entry): string {
  return utcDay(generation.createdAt);
}

function toRow(generation: Generation, content: ContentLocation | undefined): GenerationRow {
  return {
    id: generation.id,
    workspace_id: generation.workspaceId,
    created_at: generation.createdAt,
    account_id: generation.accountId,
    api_key_id: generation.apiKeyId,
    operation: generation.operation,
    model: generation.model,
    endpoint: generation.endpoint,
    provider: generation.provider,
    upstream_id: generation.upstreamId,
    status: generation.status,
    error_type: generation.errorType,
    input_count: generation.inputCount,
    prompt_tokens: generation.promptTokens,
    total_tokens: generation.totalTokens,
    cost: generation.cost === null ? null : formatUsd(generation.cost),
    upstream_cost: generation.upstreamCost === null ? null : formatUsd(generation.upstreamCost),
    is_byok: generation.isByok,
    dimensions: generation.dimensions,
    encoding_format: generation.encodingFormat,
    input_type: generation.inputType,
    duration_ms: generation.durationMs,
    upstream_ms: generation.upstreamMs,
    user_id: generation.userId,
    session_id: generation.sessionId,
    request_id: generation.requestId,
    region: generation.region,
    trace: generation.trace,
    request_context: generation.requestContext,
    attempts: storedAttempts(generation),
    content_ordinal: content?.ordinal,
    content_bytes: content?.bytes ?? 0,
    completion_tokens: generation.chat?.completionTokens,
    reasoning_tokens: generation.chat?.reasoningTokens,
    cached_tokens: generation.chat?.cachedTokens,
    chat: storedFacts(generation),
    error_message: generation.errorMessage,
  };
}
