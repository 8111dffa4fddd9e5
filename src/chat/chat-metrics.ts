// Metrics of chat calls: names of closed lists and numbers, never text of others.
import { Injectable } from '@nestjs/common';
import { Counter, Gauge, Histogram } from 'prom-client';
import { Metrics } from '../config/metrics.js';
import { USAGE_SOURCES } from '../domain/chat/chat-usage.js';
import type { UsageSource } from '../domain/chat/chat-usage.js';

// Seconds.
const FIRST_TOKEN_BUCKETS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];
const DURATION_BUCKETS = [0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1_800];
const RATE_BUCKETS = [1, 5, 10, 25, 50, 100, 200, 400, 800];

export interface SettledCall {
  readonly provider: string;
  readonly source: UsageSource;
  readonly durationMs: number;
  readonly isCancelled: boolean;
  readonly isSlowReader: boolean;
  readonly isConsistent: boolean;
  readonly isOverrun: boolean;
  /** Their number. */
  readonly droppedMembers: number;
  /** From the receipt of the request; null: no stream, or no content. */
  readonly firstTokenMs: number | null;
  readonly tokensPerSecond: number;
}

@Injectable()
export class ChatMetrics {
  readonly openStreams;
  readonly openDrains;
  private readonly firstToken;
  private readonly duration;
  private readonly outputRate;
  readonly streamFailures;
  private readonly cancelled;
  private readonly usageInconsistent;
  private readonly overruns;
  private readonly writeStalls;
  private readonly droppedMembers;
  private readonly usageSources;

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
    this.streamFailures = counter('stream_failures_total', 'Streams that failed, by kind and phase.', [
      'kind',
      'phase',
    ]);
    this.cancelled = counter('cancelled_total', 'Calls whose client left before the end.', []);
    this.usageSources = counter('usage_source_total', 'Calls by the origin of their charged tokens.', [
      'source',
    ]);
    this.usageInconsistent = counter(
      'usage_inconsistent_total',
      'Reports of usage whose parts exceed their total or are no counts.',
      ['provider'],
    );
    this.overruns = counter('overrun_total', 'Calls that cost more than their reservation.', ['provider']);
    this.writeStalls = counter(
      'client_write_stalls_total',
      'Streams cut because their client took nothing.',
      [],
    );
    this.droppedMembers = counter(
      'dropped_members_total',
      'Members of requests that an endpoint does not take, by provider.',
      ['provider'],
    );
    // Prometheus sees no increase in a series that begins with its first event.
    for (const source of USAGE_SOURCES) this.usageSources.inc({ source }, 0);
  }

  settled(call: SettledCall): void {
    const { provider, source, durationMs, firstTokenMs, tokensPerSecond } = call;
    this.usageSources.inc({ source });
    this.duration.observe(durationMs / 1_000);
    if (call.isCancelled) this.cancelled.inc();
    if (call.isSlowReader) this.writeStalls.inc();
    if (!call.isConsistent) this.usageInconsistent.inc({ provider });
    if (call.isOverrun) this.overruns.inc({ provider });
    if (call.droppedMembers > 0) this.droppedMembers.inc({ provider }, call.droppedMembers);
    if (firstTokenMs === null) return;
    this.firstToken.observe({ provider }, firstTokenMs / 1_000);
    if (tokensPerSecond > 0) this.outputRate.observe(tokensPerSecond);
  }
}
