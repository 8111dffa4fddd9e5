// A generation as a row of its table.
import type { CallerTrace } from '../../domain/caller-trace.js';
import type { Generation, GenerationAttempt, RequestContext } from '../../domain/generations/generation.js';
import type { RerankFacts } from '../../domain/rerank/rerank.js';
import { parseUsd } from '../../domain/spend/money.js';
import { readChat } from './chat-row.js';
import type { CommonFacts } from './chat-row.js';
import type { Generation as TableRow, Prisma } from '../generated/client.js';

/** Plain statements return amounts as texts, Prisma as its own decimals. */
type Amount = Prisma.Decimal | string | null;

export type GenerationRow = Omit<TableRow, 'cost' | 'upstreamCost' | 'logTransaction' | 'logOrdinal'> & {
  readonly cost: Amount;
  readonly upstreamCost: Amount;
};

/** The columns that make a generation, by member. */
export const GENERATION_COLUMNS = {
  id: 'id',
  workspaceId: 'workspace_id',
  createdAt: 'created_at',
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
  completionTokens: 'completion_tokens',
  reasoningTokens: 'reasoning_tokens',
  cachedTokens: 'cached_tokens',
  chat: 'chat',
  errorMessage: 'error_message',
} satisfies Record<Exclude<keyof GenerationRow, 'contentOrdinal' | 'contentBytes'>, string>;

/**
 * The attempts as stored: null for none, and an empty list for a single one that the rest of the row describes, as
 * for almost every call. A list of objects would be a third of a call's row.
 */
export function storedAttempts(generation: Generation): readonly GenerationAttempt[] | null {
  const { attempts } = generation;
  const [only] = attempts;
  if (!only) return null;
  const { provider, endpoint, status, errorType, durationMs } = only;
  const isDescribed =
    attempts.length === 1 &&
    hasNoDetails(only) &&
    provider === generation.provider &&
    endpoint === generation.endpoint &&
    status === generation.status &&
    errorType === generation.errorType &&
    durationMs === generation.upstreamMs;
  return isDescribed ? [] : attempts;
}

/** Members that the row does not have. */
function hasNoDetails({
  firstContentMs,
  droppedMembers,
  model,
  upstreamId,
  isByok,
}: GenerationAttempt): boolean {
  return [firstContentMs, droppedMembers, model, upstreamId, isByok].every((member) => member === undefined);
}

function readAttempts(row: GenerationRow): readonly GenerationAttempt[] {
  if (row.attempts === null) return [];
  const stored = row.attempts as unknown as readonly GenerationAttempt[];
  if (stored.length > 0) return stored;
  const { provider, endpoint, status, errorType, upstreamMs } = row;
  return [
    { provider: provider ?? '', endpoint: endpoint ?? '', status, errorType, durationMs: upstreamMs ?? 0 },
  ];
}

export function toGeneration(row: GenerationRow): Generation {
  return {
    id: row.id,
    accountId: row.accountId,
    workspaceId: row.workspaceId,
    apiKeyId: row.apiKeyId,
    createdAt: row.createdAt,
    operation: readOperation(row),
    model: row.model,
    endpoint: row.endpoint,
    provider: row.provider,
    upstreamId: row.upstreamId,
    status: row.status,
    errorType: row.errorType,
    errorMessage: row.errorMessage,
    inputCount: row.inputCount,
    promptTokens: row.promptTokens,
    totalTokens: row.totalTokens,
    cost: toUsd(row.cost),
    upstreamCost: toUsd(row.upstreamCost),
    isByok: row.isByok,
    dimensions: row.dimensions,
    encodingFormat: readEncodingFormat(row),
    inputType: row.inputType,
    durationMs: row.durationMs,
    upstreamMs: row.upstreamMs,
    userId: row.userId,
    sessionId: row.sessionId,
    requestId: row.requestId,
    region: row.region,
    trace: row.trace as CallerTrace | null,
    requestContext: row.requestContext as RequestContext | null,
    attempts: readAttempts(row),
    chat: readChat(row),
    rerank: readRerank(row),
    pricing: readPricing(row),
    guardrails: (row.chat as CommonFacts | null)?.guardrails,
  };
}

function readOperation({ operation }: GenerationRow): Generation['operation'] {
  return operation === 'chat' || operation === 'rerank' ? operation : 'embeddings';
}

/** In the column of the facts that only one operation has. */
function readRerank({ operation, chat }: GenerationRow): RerankFacts | null {
  if (operation !== 'rerank' || chat === null) return null;
  const { pricing: _pricing, guardrails: _hits, ...facts } = chat as unknown as RerankFacts & CommonFacts;
  return facts;
}

function readPricing({ chat }: GenerationRow): Generation['pricing'] {
  const stored = (chat as CommonFacts | null)?.pricing;
  if (!stored) return stored;
  const [catalogueVersion, effectiveFrom, source] = stored;
  return { catalogueVersion, effectiveFrom, ...(source === 'ceiling' && { isCeiling: true }) };
}

function readEncodingFormat({ encodingFormat }: GenerationRow): Generation['encodingFormat'] {
  if (encodingFormat === null) return null;
  return encodingFormat === 'base64' ? 'base64' : 'float';
}

function toUsd(amount: Amount): bigint | null {
  if (amount === null) return null;
  return parseUsd(typeof amount === 'string' ? amount : amount.toFixed());
}
