// Reports the bills of providers that no caller pays: as metrics by endpoint and by account, and over-reports in the log.
import { Injectable, Logger } from '@nestjs/common';
import { Counter, Gauge } from 'prom-client';
import { Metrics } from '../config/metrics.js';
import { Clock } from '../domain/clock.js';
import type { UnpaidCost } from '../domain/spend/charge.js';
import { usdToNumber } from '../domain/spend/money.js';

// Label values of the metric by account. The accounts change, so that Prometheus may see a few more.
const SHOWN_ACCOUNTS = 10;
// Accounts beyond this number replace the one with the smallest amount.
const KEPT_ACCOUNTS = 1_000;
// Milliseconds between two log lines about one endpoint.
const LOG_INTERVAL = 60_000;

/** Over-reported costs of one endpoint since its last log line. */
interface OverReports {
  loggedAt: number;
  calls: number;
  usd: number;
}

@Injectable()
export class UnpaidCosts {
  private readonly logger = new Logger(UnpaidCosts.name);
  private readonly unpaid;
  private readonly overReported;
  /** USD since the process started. */
  private readonly byAccount = new Map<string, number>();
  /** By endpoint: as many as the catalogue has. */
  private readonly reports = new Map<string, OverReports>();

  constructor(
    { registry }: Metrics,
    private readonly clock: Clock,
  ) {
    this.unpaid = new Counter({
      name: 'signalbox_unpaid_upstream_usd_total',
      help: 'USD that providers charge the operator and no caller pays; reason: over_reported (more than the inputs can cost), broken_answer (unusable answers), failed_call (parts of calls that failed by no fault of their caller), ended_here (work that a time-out of this service cut, estimated). Endpoints without a known price count nothing.',
      labelNames: ['provider', 'endpoint', 'reason'],
      registers: [registry],
    });
    this.overReported = new Counter({
      name: 'signalbox_over_reported_calls_total',
      help: 'Answers whose provider reports more usage than their inputs can have; payer: operator, or own_key for calls through own provider keys.',
      labelNames: ['provider', 'endpoint', 'payer'],
      registers: [registry],
    });
    const topAccounts: Gauge<'account_id'> = new Gauge({
      name: 'signalbox_unpaid_upstream_top_accounts_usd',
      help: 'USD that providers charge the operator and no caller pays, since the process started, of the ten accounts with the most.',
      labelNames: ['account_id'],
      registers: [registry],
      collect: () => {
        topAccounts.reset();
        for (const [accountId, usd] of this.topAccounts()) topAccounts.set({ account_id: accountId }, usd);
      },
    });
  }

  record(accountId: string, generationId: string, costs: readonly UnpaidCost[]): void {
    let usd = 0;
    for (const cost of costs) {
      const amount = cost.amount === null ? 0 : usdToNumber(cost.amount);
      const { provider, endpoint, reason, isOwn } = cost;
      if (!isOwn) {
        this.unpaid.inc({ provider, endpoint, reason }, amount);
        usd += amount;
      }
      if (reason !== 'over_reported') continue;
      this.overReported.inc({ provider, endpoint, payer: isOwn ? 'own_key' : 'operator' });
      this.logOverReport(accountId, generationId, cost, amount);
    }
    if (usd > 0) this.addToAccount(accountId, usd);
  }

  private logOverReport(accountId: string, generationId: string, cost: UnpaidCost, usd: number): void {
    const { provider, endpoint, isOwn, reportedTokens } = cost;
    const now = this.clock.now().getTime();
    const known = this.reports.get(endpoint) ?? { loggedAt: -Infinity, calls: 0, usd: 0 };
    this.reports.set(endpoint, known);
    known.calls++;
    known.usd += usd;
    // A clock that was set back must not silence the log.
    if (Math.abs(now - known.loggedAt) < LOG_INTERVAL) return;
    this.logger.warn(
      {
        provider,
        endpoint,
        isByok: isOwn,
        accountId,
        generationId,
        reportedTokens,
        answers: known.calls,
        unpaidUsd: known.usd,
      },
      'a provider reports more usage than its inputs can have; the caller is charged the bound',
    );
    known.loggedAt = now;
    known.calls = 0;
    known.usd = 0;
  }

  private addToAccount(accountId: string, usd: number): void {
    const known = this.byAccount.get(accountId);
    if (known === undefined && this.byAccount.size >= KEPT_ACCOUNTS) this.forgetLeast();
    this.byAccount.set(accountId, (known ?? 0) + usd);
  }

  private forgetLeast(): void {
    let least: { readonly accountId: string; readonly usd: number } | null = null;
    for (const [accountId, usd] of this.byAccount)
      if (least === null || usd < least.usd) least = { accountId, usd };
    if (least) this.byAccount.delete(least.accountId);
  }

  private topAccounts(): (readonly [string, number])[] {
    return [...this.byAccount].toSorted(([, one], [, other]) => other - one).slice(0, SHOWN_ACCOUNTS);
  }
}
