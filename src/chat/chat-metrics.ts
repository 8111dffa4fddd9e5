// Metrics of chat calls: names of closed lists and numbers, never text of others.
import { Injectable } from '@nestjs/common';
import { Counter, Gauge, Histogram } from 'prom-client';
import { Metrics } from '../config/metrics.js';
import { USAGE_SOURCES } from '../domain/chat/chat-usage.js';
import type { UsageSource } from '../domain/chat/chat-usage.js';
import { ENDINGS, ruleOf } from '../domain/ending.js';
import type { Ending } from '../domain/ending.js';
import { MODEL_WIRES, PROVIDER_WIRES } from '../domain/chat/model-wire.js';
import type { ModelWire, ProviderWire } from '../domain/chat/model-wire.js';
import { usdToNumber } from '../domain/spend/money.js';
import type { PicoUsd } from '../domain/spend/money.js';
import { PROVIDERS } from '../providers/index.js';
import { KNOWN_MEMBERS } from './dto/create-chat-completion.dto.js';
import { MESSAGE_MEMBERS } from './dto/create-message.dto.js';
import type { ChatFailure } from './stream/chat-failure.js';

// Seconds.
const FIRST_TOKEN_BUCKETS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];
const DURATION_BUCKETS = [0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1_800];
const RATE_BUCKETS = [1, 5, 10, 25, 50, 100, 200, 400, 800];

export interface SettledCall {
  readonly provider: string;
  readonly clientWire: ModelWire;
  readonly providerWire: ProviderWire;
  readonly ending: Ending;
  readonly source: UsageSource;
  readonly durationMs: number;
  readonly isConsistent: boolean;
  readonly isOverrun: boolean;
  /** USD of a call that its caller pays by a ceiling; 0: the catalogue has the model. */
  readonly ceilingCost: PicoUsd;
  /** Of tools that the provider ran for the operator's money. */
  readonly unpricedUses: number;
  readonly droppedMembers: readonly string[];
  /** From the receipt of the request; null: no stream, or no content. */
  readonly firstTokenMs: number | null;
  readonly tokensPerSecond: number;
}

const FAILURE_KINDS: readonly ChatFailure['kind'][] = [
  'provider_error',
  'broken_answer',
  'timeout',
  'connection',
];
const PHASES = ['headers', 'first_content', 'content'] as const;
export type StreamPhase = (typeof PHASES)[number];
const DROPPED_REASONING = ['foreign', 'moved'] as const;
/** The origin of a count of tokens: the provider, this service since the provider cannot count, or since it failed to. */
const COUNT_SOURCES = ['provider', 'estimated', 'failed'] as const;
export type CountSource = (typeof COUNT_SOURCES)[number];
const LABELS: ReadonlySet<string> = new Set([...KNOWN_MEMBERS, ...MESSAGE_MEMBERS, 'context_management']);
const OTHER_MEMBER = 'other';

/** The label of a member or of a path into one. Callers choose the names of unknown members, which share a label. */
function memberLabel(path: string): string {
  const name = /^\w+/.exec(path)?.[0] ?? '';
  return LABELS.has(name) ? name : OTHER_MEMBER;
}

@Injectable()
export class ChatMetrics {
  readonly openStreams;
  readonly openDrains;
  readonly pendingRecords;
  readonly lostRecords;
  private readonly firstToken;
  private readonly duration;
  private readonly outputRate;
  private readonly streamFailures;
  private readonly unexpectedRefusals;
  private readonly endings;
  private readonly usageInconsistent;
  private readonly overruns;
  private readonly unpricedUses;
  private readonly ceilingPriced;
  private readonly droppedMembers;
  private readonly usageSources;
  private readonly eventOrder;
  private readonly droppedReasoning;
  private readonly unknownEvents;
  private readonly calls;
  private readonly tokenCounts;

  constructor({ registry }: Metrics) {
    const registers = [registry];
    const counter = <Label extends string>(name: string, help: string, labelNames: Label[]) =>
      new Counter({ name: `signalbox_chat_${name}`, help, labelNames, registers });
    this.openStreams = new Gauge({
      name: 'signalbox_chat_open_streams',
      help: 'Streams with a client.',
      registers,
    });
    this.openDrains = new Gauge({
      name: 'signalbox_chat_open_drains',
      help: 'Streams that are read for their usage after their client has left.',
      registers,
    });
    this.pendingRecords = new Gauge({
      name: 'signalbox_chat_pending_records',
      help: 'Ended calls whose record is not committed yet because the database has failed.',
      registers,
    });
    this.lostRecords = counter('lost_records_total', 'Calls whose record could not be committed.', []);
    this.firstToken = new Histogram({
      name: 'signalbox_chat_first_token_seconds',
      help: 'From the receipt of a request to the first content of its stream.',
      labelNames: ['provider'],
      buckets: FIRST_TOKEN_BUCKETS,
      registers,
    });
    this.duration = new Histogram({
      name: 'signalbox_chat_duration_seconds',
      help: 'Duration of chat calls that reached routing.',
      buckets: DURATION_BUCKETS,
      registers,
    });
    this.outputRate = new Histogram({
      name: 'signalbox_chat_output_tokens_per_second',
      help: 'Completion tokens a second of answers with usage.',
      buckets: RATE_BUCKETS,
      registers,
    });
    this.streamFailures = counter(
      'stream_failures_total',
      'Streams of providers that failed, by kind and phase: before the headers, before the first content, or after it.',
      ['kind', 'phase'],
    );
    this.endings = counter(
      'endings_total',
      'Calls by the cause of their end: completed, provider, caller, service; and by the end itself (docs/contract.md#endings).',
      ['cause', 'ending'],
    );
    this.usageSources = counter('usage_source_total', 'Calls by the origin of their charged tokens.', [
      'source',
    ]);
    this.usageInconsistent = counter(
      'usage_inconsistent_total',
      'Reports of usage whose parts exceed their total or are no counts.',
      ['provider'],
    );
    this.eventOrder = counter(
      'event_order_total',
      'Answers whose parts came in an order that had to be repaired: nameless tool calls, content behind the finish reason.',
      ['provider'],
    );
    this.droppedReasoning = counter(
      'reasoning_dropped_total',
      'Requests without thoughts of their history: foreign (of another producer), or moved (the endpoint or credential that made them did not serve).',
      ['reason'],
    );
    this.unknownEvents = counter(
      'unknown_events_total',
      'Events of types that this service does not know: clients of the wire got them, translated answers did not.',
      ['provider'],
    );
    this.calls = counter('calls_total', 'Calls that reached routing, by the wires of client and provider.', [
      'client_wire',
      'provider_wire',
    ]);
    this.tokenCounts = new Counter({
      name: 'signalbox_count_tokens_total',
      help: 'Counts of a prompt without a call: by the provider, estimated since it cannot count, or since it failed.',
      labelNames: ['source'],
      registers,
    });
    this.overruns = counter('overrun_total', 'Calls that cost more than their reservation.', ['provider']);
    this.unpricedUses = counter(
      'unpriced_uses_total',
      'Searches and the like that providers ran by themselves and bill to the operator: no price of the catalogue covers them.',
      ['provider'],
    );
    this.ceilingPriced = new Counter({
      name: 'signalbox_ceiling_priced_usd_total',
      help: 'USD that calls of unlisted models cost by the ceiling of their provider: their own price is to be added to the catalogue.',
      labelNames: ['provider'],
      registers,
    });
    this.droppedMembers = counter(
      'dropped_members_total',
      'Calls with a member that their endpoint does not take, by provider and member.',
      ['provider', 'member'],
    );
    this.unexpectedRefusals = counter(
      'unexpected_refusals_total',
      'Requests that a provider refused for a member that should have been dropped, by provider and member.',
      ['provider', 'member'],
    );
    // Prometheus sees no increase in a series that begins with its first event.
    for (const [ending, { cause }] of Object.entries(ENDINGS)) this.endings.inc({ cause, ending }, 0);
    for (const reason of DROPPED_REASONING) this.droppedReasoning.inc({ reason }, 0);
    for (const source of COUNT_SOURCES) this.tokenCounts.inc({ source }, 0);
    for (const client_wire of MODEL_WIRES)
      for (const provider_wire of PROVIDER_WIRES) this.calls.inc({ client_wire, provider_wire }, 0);
    for (const source of USAGE_SOURCES) this.usageSources.inc({ source }, 0);
    for (const kind of FAILURE_KINDS) for (const phase of PHASES) this.streamFailures.inc({ kind, phase }, 0);
    for (const { slug: provider, chat } of PROVIDERS) {
      if (chat === undefined) continue;
      this.usageInconsistent.inc({ provider }, 0);
      this.overruns.inc({ provider }, 0);
      this.unpricedUses.inc({ provider }, 0);
      this.ceilingPriced.inc({ provider }, 0);
      this.eventOrder.inc({ provider }, 0);
      this.unknownEvents.inc({ provider }, 0);
      this.unexpectedRefusals.inc({ provider, member: OTHER_MEMBER }, 0);
    }
  }

  streamFailed(kind: ChatFailure['kind'], phase: StreamPhase): void {
    this.streamFailures.inc({ kind, phase });
  }

  refusedUnexpectedly(provider: string, member: string): void {
    this.unexpectedRefusals.inc({ provider, member: memberLabel(member) });
  }

  reasoningDropped(reason: (typeof DROPPED_REASONING)[number]): void {
    this.droppedReasoning.inc({ reason });
  }

  countedTokens(source: CountSource): void {
    this.tokenCounts.inc({ source });
  }

  skippedEvents(provider: string, events: number): void {
    this.unknownEvents.inc({ provider }, events);
  }

  outOfOrder(provider: string): void {
    this.eventOrder.inc({ provider });
  }

  settled(call: SettledCall): void {
    const { provider, source, durationMs, firstTokenMs, tokensPerSecond, clientWire, providerWire } = call;
    this.calls.inc({ client_wire: clientWire, provider_wire: providerWire });
    this.usageSources.inc({ source });
    this.duration.observe(durationMs / 1_000);
    this.endings.inc({ cause: ruleOf(call.ending).cause, ending: call.ending });
    if (!call.isConsistent) this.usageInconsistent.inc({ provider });
    if (call.isOverrun) this.overruns.inc({ provider });
    this.unpricedUses.inc({ provider }, call.unpricedUses);
    this.ceilingPriced.inc({ provider }, usdToNumber(call.ceilingCost));
    for (const member of new Set(call.droppedMembers.map(memberLabel)))
      this.droppedMembers.inc({ provider, member });
    if (firstTokenMs === null) return;
    this.firstToken.observe({ provider }, firstTokenMs / 1_000);
    if (tokensPerSecond > 0) this.outputRate.observe(tokensPerSecond);
  }
}
