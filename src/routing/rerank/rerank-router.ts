// Serves a rerank call: one endpoint scores all documents, in parts where it takes fewer of them in a call. Parts of two
// endpoints are never merged: a provider may run the model in another precision, and search units would be paid for twice.
import { Injectable } from '@nestjs/common';
import { partsOf } from '../../catalogue/rerank-cost.js';
import { mapBounded } from '../../concurrency/map-bounded.js';
import { AppConfig } from '../../config/app-config.js';
import type { EmbeddingInput } from '../../domain/embeddings/embedding.js';
import type { RankedDocument, RerankDocuments, RerankRequest } from '../../domain/rerank/rerank.js';
import { BrokenAnswer, UnsupportedRequest } from '../../providers/shared/provider.js';
import type { RerankAnswer, RerankCall } from '../../providers/shared/provider.js';
import { CallCredentials } from '../credentials/call-credentials.js';
import { CredentialCircuits } from '../credentials/credential-circuits.js';
import type { RerankTarget } from '../endpoint-target.js';
import { connectionOf, EndpointCaller } from '../endpoints/endpoint-caller.js';
import type { CallLimits } from '../endpoints/endpoint-caller.js';
import { failureOfThrown } from '../failures/exchange-failures.js';
import { EndpointAttempts } from '../fallback/endpoint-attempts.js';
import { EndpointFallback } from '../fallback/endpoint-fallback.js';
import { RemainingEndpoints } from '../fallback/remaining-endpoints.js';
import { beginRun, endRun } from '../fallback/slice-run.js';
import type { RoutedCall, Run } from '../routed-call.js';
import { sentMembers } from '../sent-members.js';
import type { RerankRoute } from './rerank-planner.js';

// Parts of one call in flight.
const PARALLEL_PARTS = 8;
// Servers may repeat the documents, with escapes.
const BYTES_PER_DOCUMENT_BYTE = 6;
const MAX_BYTES_AROUND = 1_000_000;

export type RoutedRerank = RoutedCall<RerankTarget, RerankAnswer>;
type RerankRun = Run<RerankTarget, RerankAnswer>;

@Injectable()
export class RerankRouter {
  constructor(
    private readonly caller: EndpointCaller,
    private readonly attempts: EndpointAttempts,
    private readonly fallback: EndpointFallback,
    private readonly circuits: CredentialCircuits,
    private readonly config: AppConfig,
  ) {}

  /** Never throws: every call is a generation, however it ends. `deadline`: performance.now() */
  async run(route: RerankRoute, request: RerankRequest, deadline: number): Promise<RoutedRerank> {
    const run = beginRun(
      {
        name: 'rerank' as const,
        droppedMembers: ({ wire, endpoint }: RerankTarget) =>
          sentMembers({ provider: wire, endpoint }, request.extra).dropped,
        send: (target: RerankTarget, input: EmbeddingInput, limits: CallLimits) =>
          this.send(target, { ...request, documents: input as RerankDocuments }, limits),
      },
      route,
      new CallCredentials(this.circuits, route.accountId),
      deadline,
    );
    try {
      let remaining = RemainingEndpoints.of(run.targets);
      for (;;) {
        const { target, mayWait } = remaining;
        const step = await this.fallback.step(remaining, run, () =>
          this.serve(target, mayWait, request, run),
        );
        if ('answer' in step) return endRun(run);
        // The provider bills for the parts that it has served.
        for (const part of run.served.splice(0)) run.wasted.push({ ...part, reason: 'failed_call' });
        remaining = step.remaining;
      }
    } catch (last) {
      return endRun(run, last);
    }
  }

  /** Serves the parts that the endpoint has not served yet: a repeat sends no others. */
  private async serve(
    target: RerankTarget,
    mayWait: boolean,
    { documents }: RerankRequest,
    run: RerankRun,
  ): Promise<void> {
    const served = new Set(run.served.map(({ start }) => start));
    const parts = partsOf(documents, target.endpoint).filter(({ start }) => !served.has(start));
    const parallel = Math.min(PARALLEL_PARTS, this.config.endpointConcurrency);
    await mapBounded(parts, parallel, async (part) => {
      run.served.push(await this.attempts.attempt(target, part, run, mayWait));
    });
  }

  /** Throws EndpointFailure. */
  private async send(
    target: RerankTarget,
    { query, documents, topN = Infinity, extra: unknown }: RerankRequest,
    limits: CallLimits,
  ): Promise<RerankAnswer> {
    const { wire, endpoint, provider } = target;
    const names = this.caller.namesOf(target);
    const { extra, refused } = sentMembers({ provider: wire, endpoint }, unknown);
    const count = documents.items.length;
    const call: RerankCall = {
      upstreamModel: endpoint.upstreamModel,
      query,
      documents,
      topN: Math.min(topN, count),
      maxTokensPerDocument: endpoint.maxTokensPerDocument,
      path: endpoint.rerankPath,
      extra,
    };
    try {
      if (refused !== null)
        throw new UnsupportedRequest(
          refused,
          `changes the scores by a setting of the server, which ${provider.name} takes from its operator only; leave it out`,
        );
      const exchange = {
        wire,
        request: wire.buildRequest(call, connectionOf(names)),
        read: (response: Parameters<typeof wire.readAnswer>[0]): RerankAnswer =>
          checked(wire.readAnswer(response, call), count),
        maxResponseBytes: bytesOf(documents) * BYTES_PER_DOCUMENT_BYTE + MAX_BYTES_AROUND,
        hasUnknownMembers: Object.keys(extra).length > 0,
      };
      return await this.caller.exchange(exchange, names, limits);
    } catch (error) {
      throw failureOfThrown(error, names);
    }
  }
}

/** The invariant of every answer: each index is that of a document and occurs once, each score is finite. */
function checked(answer: RerankAnswer, count: number): RerankAnswer {
  const seen = new Set<number>();
  for (const { index, score } of answer.results) {
    if (!isIndexOf(index, count))
      throw new BrokenAnswer(`a result has the index ${index} of ${count} documents`);
    if (seen.has(index)) throw new BrokenAnswer(`two results have the index ${index}`);
    if (!Number.isFinite(score)) throw new BrokenAnswer('a score is not a finite number');
    seen.add(index);
  }
  return answer;
}

function isIndexOf(index: RankedDocument['index'], count: number): boolean {
  return Number.isInteger(index) && index >= 0 && index < count;
}

function bytesOf({ items }: RerankDocuments): number {
  return items.reduce(
    (sum, item) => sum + Buffer.byteLength(typeof item === 'string' ? item : JSON.stringify(item)),
    0,
  );
}
