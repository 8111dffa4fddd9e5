// Request metrics. Every label comes from a closed list: routes are patterns in the code, never raw paths.
import { Injectable } from '@nestjs/common';
import { Counter, Histogram } from 'prom-client';
import { ERROR_DEFINITIONS } from '../../domain/errors.js';
import { Metrics } from '../../config/metrics.js';
import type { FinishedRequest } from './request-log.js';

// Seconds.
const DURATION_BUCKETS = [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

@Injectable()
export class HttpMetrics {
  private readonly requests;
  private readonly durations;
  private readonly errors;

  constructor({ registry }: Metrics) {
    const registers = [registry];
    this.requests = new Counter({
      name: 'signalbox_http_requests_total',
      help: 'Finished requests; status aborted: the caller disconnected before there was a response.',
      labelNames: ['method', 'route', 'status'],
      registers,
    });
    this.durations = new Histogram({
      name: 'signalbox_http_request_duration_seconds',
      help: 'Duration from the first header of a request to the last byte of its response.',
      labelNames: ['method', 'route'],
      buckets: DURATION_BUCKETS,
      registers,
    });
    this.errors = new Counter({
      name: 'signalbox_http_errors_total',
      help: 'Requests that ended with an error, by code; key_limit_exceeded, budget_exceeded and insufficient_credits are rejections by spend limits.',
      labelNames: ['code'],
      registers,
    });
    // Every series starts at 0: Prometheus sees no increase in a series that begins with its first event.
    for (const code of Object.keys(ERROR_DEFINITIONS)) this.errors.inc({ code }, 0);
  }

  finished({ method: given, route: found, status, duration, errorCode }: FinishedRequest): void {
    const method = METHODS.has(given) ? given : 'other';
    const route = found ?? 'none';
    this.requests.inc({ method, route, status: status ?? 'aborted' });
    this.durations.observe({ method, route }, duration / 1_000);
    if (errorCode !== null) this.errors.inc({ code: errorCode });
  }
}
