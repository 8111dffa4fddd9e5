// The durable log of generations, and the settling of their cost: one statement, one commit, many calls.
import { Injectable } from '@nestjs/common';
import type { BeforeApplicationShutdown } from '@nestjs/common';
import { Tracing } from '../config/tracing.js';
import type { GenerationContent } from '../domain/generation-content.js';
import type { Generation } from '../domain/generation.js';
import { formatUsd } from '../domain/money.js';
import type { SpendRelease } from '../domain/spend-cap.js';
import { utcDay } from '../domain/spend.js';
import { Batcher } from './batcher.js';
import { ConfigCipher } from './config-cipher.js';
import { DatabaseMetrics } from './database-metrics.js';
import { Database } from './database.js';
import { describeReleases } from './spend-ledger.js';
import { APPEND_AND_SETTLE } from './spend-statements.js';
import type { GenerationRow } from './spend-statements.js';

// One batch at a time: two would only wait for each other's counters.
const LIMITS = { maxBatch: 500, maxUnderWay: 1, maxWaiting: 20_000 };

interface Entry {
  readonly generation: Generation;
  readonly releases: readonly SpendRelease[];
  readonly content: GenerationContent | null;
}

@Injectable()
export class GenerationLog implements BeforeApplicationShutdown {
  private readonly batcher: Batcher<Entry, void>;

  constructor(
    private readonly database: Database,
    private readonly cipher: ConfigCipher,
    private readonly metrics: DatabaseMetrics,
    private readonly tracing: Tracing,
  ) {
    this.batcher = new Batcher<Entry, void>((entries) => this.writeByDay(entries), LIMITS);
  }

  /**
   * Resolves when the generation and its cost are committed: only then may the caller see the answer. `releases` are
   * the reservations that the cost takes the place of; a failure leaves their leases in doubt, since the statement may
   * have been committed all the same, or may yet be. `content` is stored encrypted beside the log.
   */
  async append(
    generation: Generation,
    releases: readonly SpendRelease[] = [],
    content: GenerationContent | null = null,
  ): Promise<void> {
    for (const release of releases) release.handOver();
    try {
      await this.tracing.span('append to the log', { kind: 'internal' }, (span) => {
        span?.setAttribute('signalbox.generation_id', generation.id);
        return this.batcher.add({ generation, releases, content });
      });
    } catch (error) {
      for (const { lease } of releases) lease.doubt();
      throw error;
    }
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.batcher.drain();
  }

  /** One statement settles one UTC day, so that it can say for each window whether it goes on or begins anew. */
  private async writeByDay(entries: readonly Entry[]): Promise<[]> {
    for (const [day, ofDay] of groupByDay(entries)) {
      const statement = {
        name: 'append-and-settle',
        text: APPEND_AND_SETTLE,
        values: [
          JSON.stringify(ofDay.map(({ generation }) => toRow(generation))),
          day,
          describeReleases(ofDay.flatMap(({ releases }) => releases)),
          JSON.stringify(ofDay.flatMap((entry, index) => this.toContentRow(entry, index + 1))),
        ],
      };
      await this.metrics.batch(ofDay.length, () => this.database.query(statement));
    }
    return [];
  }

  private toContentRow({ generation, content }: Entry, ordinal: number): object[] {
    if (content === null) return [];
    const { ciphertext, encryptionKeyId } = this.cipher.encrypt(content, generation.id);
    return [
      {
        generation_id: generation.id,
        workspace_id: generation.workspaceId,
        created_at: generation.createdAt,
        ordinal,
        ciphertext: Buffer.from(ciphertext.buffer).toString('base64'),
        encryption_key_id: encryptionKeyId,
      },
    ];
  }
}

function groupByDay(entries: readonly Entry[]): ReadonlyMap<string, Entry[]> {
  const days = new Map<string, Entry[]>();
  for (const entry of entries) {
    const day = utcDay(entry.generation.createdAt);
    const ofDay = days.get(day);
    if (ofDay) ofDay.push(entry);
    else days.set(day, [entry]);
  }
  return days;
}

/** What is null is left out: JSON has no undefined, and a member that is not there is neither written nor read. */
function toRow(generation: Generation): GenerationRow {
  return {
    id: generation.id,
    workspace_id: generation.workspaceId,
    created_at: generation.createdAt,
    account_id: generation.accountId,
    api_key_id: generation.apiKeyId,
    operation: generation.operation,
    model: generation.model,
    endpoint: generation.endpoint ?? undefined,
    provider: generation.provider ?? undefined,
    upstream_id: generation.upstreamId ?? undefined,
    status: generation.status,
    error_type: generation.errorType ?? undefined,
    input_count: generation.inputCount,
    prompt_tokens: generation.promptTokens,
    total_tokens: generation.totalTokens,
    cost: generation.cost === null ? undefined : formatUsd(generation.cost),
    upstream_cost: generation.upstreamCost === null ? undefined : formatUsd(generation.upstreamCost),
    is_byok: generation.isByok,
    dimensions: generation.dimensions ?? undefined,
    encoding_format: generation.encodingFormat,
    input_type: generation.inputType ?? undefined,
    duration_ms: generation.durationMs,
    upstream_ms: generation.upstreamMs ?? undefined,
    user_id: generation.userId ?? undefined,
    session_id: generation.sessionId ?? undefined,
    request_id: generation.requestId,
    region: generation.region,
    trace: generation.trace ?? undefined,
    request_context: generation.requestContext ?? undefined,
    attempts: generation.attempts.length === 0 ? undefined : generation.attempts,
  };
}
