// Assembles the record of one call of any operation.
import type { AppError } from '../errors.js';
import type { CallHits } from '../guardrails/guardrail-hit.js';
import type { ApiKey } from '../keys/api-key.js';
import type { Charge } from '../spend/charge.js';
import { boundedText } from '../text/bounded-text.js';
import type { CallerTrace } from '../caller-trace.js';
import type { Generation, Operation, RequestContext } from './generation.js';

/** The circumstances of a call: for its record, never for its answer. */
export interface CallContext {
  readonly requestId: string;
  readonly sessionId: string | null;
  readonly trace: CallerTrace | null;
  readonly requestContext: RequestContext;
}

type Moment = Pick<Generation, 'id' | 'createdAt' | 'durationMs'>;

/** The endpoint that served or was tried last, and the attempts before. */
type Outcome = Pick<Generation, 'endpoint' | 'provider' | 'upstreamId' | 'attempts'>;

/** The members that an operation sets by its own request. */
type OperationMembers = Pick<
  Generation,
  'operation' | 'model' | 'inputCount' | 'dimensions' | 'encodingFormat' | 'inputType' | 'userId'
> &
  Partial<Pick<Generation, 'chat' | 'rerank'>>;

type CallingKey = Pick<ApiKey, 'id' | 'accountId' | 'workspaceId'>;

export interface FinishedCall {
  readonly caller: { readonly key: CallingKey; readonly hits?: CallHits };
  readonly context: CallContext;
  readonly operation: OperationMembers;
  readonly outcome: Outcome;
  readonly error: AppError | null;
  readonly charge: Charge;
  readonly pricing?: Generation['pricing'];
}

const MAX_ERROR_MESSAGE = 300;
// One build serves every region.
const REGION = 'global';

export function describeGeneration(moment: Moment, call: FinishedCall): Generation {
  const { context, operation, outcome, error, charge } = call;
  const { key, hits } = call.caller;
  // Member by member: a literal of this size with spread objects is many times slower.
  return {
    id: moment.id,
    createdAt: moment.createdAt,
    durationMs: moment.durationMs,
    promptTokens: charge.promptTokens,
    totalTokens: charge.totalTokens,
    cost: charge.cost,
    upstreamCost: charge.upstreamCost,
    isByok: charge.isByok,
    accountId: key.accountId,
    workspaceId: key.workspaceId,
    apiKeyId: key.id,
    operation: operation.operation,
    model: operation.model,
    endpoint: outcome.endpoint,
    provider: outcome.provider,
    upstreamId: outcome.upstreamId,
    status: error?.status ?? 200,
    errorType: error?.errorType ?? null,
    errorMessage: error && boundedText(error.explanation, MAX_ERROR_MESSAGE),
    inputCount: operation.inputCount,
    dimensions: operation.dimensions,
    encodingFormat: operation.encodingFormat,
    inputType: operation.inputType,
    upstreamMs: upstreamTime(operation.operation, outcome.attempts),
    userId: operation.userId,
    sessionId: context.sessionId,
    requestId: context.requestId,
    region: REGION,
    trace: context.trace,
    requestContext: Object.keys(context.requestContext).length === 0 ? null : context.requestContext,
    attempts: outcome.attempts,
    chat: operation.chat ?? null,
    rerank: operation.rerank ?? null,
    pricing: call.pricing,
    guardrails: hits?.found,
  };
}

/** Calls of many inputs call a provider several times at once; a chat call makes one attempt after the other. */
function upstreamTime(operation: Operation, attempts: Outcome['attempts']): number {
  const longest = operation !== 'chat';
  return attempts.reduce(
    (time, { durationMs }) => (longest ? Math.max(time, durationMs) : time + durationMs),
    0,
  );
}
