// Claims the destinations that have a backlog and runs a consumer for each. Notifications and backlog scans wake it.
import { setMaxListeners } from 'node:events';
import { Injectable, Logger } from '@nestjs/common';
import type { BeforeApplicationShutdown, OnApplicationBootstrap } from '@nestjs/common';
import { AppConfig } from '../../config/app-config.js';
import { DELIVERIES_TIME } from '../../config/shutdown-times.js';
import { Clock } from '../../domain/clock.js';
import { DeliveryCursorsRepository } from '../../persistence/deliveries/delivery-cursors.repository.js';
import type { ClaimedCursor } from '../../persistence/deliveries/delivery-cursors.repository.js';
import { LogHorizonReader } from '../../persistence/generations/log-horizon.js';
import { Notifications } from '../../persistence/database/notifications.js';
import { GENERATIONS_CHANNEL, readGenerationsAppended } from '../generation-publisher.js';
import { WorkspaceDestinationsCache, DESTINATIONS_CHANNEL } from '../workspace-destinations.js';
import { DeliveryMetrics } from '../delivery-metrics.js';
import { GenerationContents } from '../../persistence/contents/generation-contents.js';
import type { DestinationConsumer } from './destination-consumer.js';
import { DestinationConsumerFactory } from './destination-consumer.factory.js';
import { Debouncer } from '../../concurrency/debouncer.js';
import { KeyedThrottle } from '../../concurrency/keyed-throttle.js';
import { RepeatedTask } from '../../concurrency/repeated-task.js';
import { reachOfLog } from '../log/log-tail.js';
import { BacklogScan } from './backlog-scan.js';

// Milliseconds.
const RENEW_INTERVAL = 10_000;
const DUE_INTERVAL = 1_000;
const HORIZON_INTERVAL = 5_000;
// Changes within this time are claimed together: a caller that creates many destinations changes many workspaces at once.
const DEBOUNCE_INTERVAL = 250;
// Until a workspace that had nothing to claim is claimed again: other processes deliver to its destinations.
const CLAIM_PAUSE = 500;
// Destinations or workspaces that one statement claims or looks at.
const AT_ONCE = 200;

@Injectable()
export class ConsumerSupervisor implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger(ConsumerSupervisor.name);
  /** By workspace, then by destination. */
  private readonly consumers = new Map<string, Map<string, DestinationConsumer>>();
  private readonly claims = new KeyedThrottle(CLAIM_PAUSE, (workspaceId) =>
    this.claim(() => this.cursors.claimWorkspace(workspaceId)),
  );
  private readonly changedWorkspaces = new Debouncer(DEBOUNCE_INTERVAL, (workspaceIds) =>
    this.claimChanged(workspaceIds),
  );
  private readonly backlog: BacklogScan;
  private tasks: readonly RepeatedTask[] = [];
  private isStopping = false;

  constructor(
    private readonly cursors: DeliveryCursorsRepository,
    private readonly destinations: WorkspaceDestinationsCache,
    private readonly factory: DestinationConsumerFactory,
    private readonly metrics: DeliveryMetrics,
    private readonly contents: GenerationContents,
    private readonly horizon: LogHorizonReader,
    private readonly config: AppConfig,
    private readonly clock: Clock,
    notifications: Notifications,
  ) {
    this.backlog = new BacklogScan(cursors, () => reachOfLog(clock.now()));
    notifications.subscribe({
      channel: GENERATIONS_CHANNEL,
      onConnected: () => this.backlog.scheduleFullScan(),
      onNotification: (payload) => {
        const { workspaceId, replicaId } = readGenerationsAppended(payload);
        this.wakeConsumers(workspaceId);
        if (replicaId === config.replicaId) void this.claimMissing(workspaceId);
      },
    });
    notifications.subscribe({
      channel: DESTINATIONS_CHANNEL,
      onNotification: (workspaceId) => this.reconsider(workspaceId),
    });
  }

  onApplicationBootstrap(): void {
    const { backlogScanInterval } = this.config.deliveries;
    const onFailure = (error: unknown): void =>
      this.logger.debug({ error }, 'failed to scan for backlogs; will retry');
    // A claim lives for three periods: the pause after a slow renewal must not come on top of it.
    const renewals = RepeatedTask.periodic(RENEW_INTERVAL, () => this.renew(), onFailure);
    const claims = RepeatedTask.every(
      DUE_INTERVAL,
      async () => this.run(await this.cursors.claimDue(AT_ONCE)),
      onFailure,
    );
    const scans = RepeatedTask.every(backlogScanInterval, () => this.scanBacklog(), onFailure);
    const reports = RepeatedTask.every(HORIZON_INTERVAL, () => this.reportHorizon(), onFailure);
    this.tasks = [renewals, claims, scans, reports];
    renewals.start(RENEW_INTERVAL);
    claims.start(DUE_INTERVAL);
    scans.start(0);
    reports.start(HORIZON_INTERVAL);
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.isStopping = true;
    const tasks = this.tasks.map((task) => task.stop());
    const grace = AbortSignal.timeout(DELIVERIES_TIME);
    // One listener per consumer; Node warns of more than ten.
    setMaxListeners(0, grace);
    await Promise.all([...tasks, ...this.allConsumers().map((consumer) => consumer.stop(grace))]);
  }

  /** Generations of this workspace were committed by this replica. */
  private async claimMissing(workspaceId: string): Promise<void> {
    try {
      const destinations = await this.destinations.find(workspaceId);
      const consumers = this.consumers.get(workspaceId);
      const isAllHere = [...(destinations?.targets.keys() ?? [])].every((id) => consumers?.has(id));
      if (!isAllHere) this.claims.request(workspaceId);
    } catch (error) {
      this.backlog.scheduleFullScan();
      this.logger.debug({ error }, 'failed to read the destinations of a workspace');
    }
  }

  private allConsumers(): DestinationConsumer[] {
    const all: DestinationConsumer[] = [];
    for (const consumers of this.consumers.values()) all.push(...consumers.values());
    return all;
  }

  private wakeConsumers(workspaceId: string): void {
    for (const consumer of this.consumers.get(workspaceId)?.values() ?? []) consumer.wake();
  }

  /**
   * Claims only destinations with a backlog: one without traffic, such as a new one, needs no consumer. The next append
   * of this replica claims those that are missing, because the replica knows of the change.
   */
  private reconsider(workspaceId: string): void {
    for (const consumer of this.consumers.get(workspaceId)?.values() ?? []) consumer.reconsider();
    this.contents.note(workspaceId);
    this.changedWorkspaces.add(workspaceId);
  }

  private async claimChanged(workspaceIds: readonly string[]): Promise<void> {
    for (let from = 0; from < workspaceIds.length; from += AT_ONCE) {
      const some = workspaceIds.slice(from, from + AT_ONCE);
      await this.claim(() => this.cursors.claimWaitingOf(some, reachOfLog(this.clock.now())));
    }
  }

  private async claim(find: () => Promise<readonly ClaimedCursor[]>): Promise<void> {
    if (this.isStopping) return;
    try {
      this.run(await find());
    } catch (error) {
      this.backlog.scheduleFullScan();
      this.logger.debug({ error }, 'failed to claim destinations; the next scan will retry');
    }
  }

  /** Claims backlogs without a wake signal: after a crash, a lost notification, or a long open transaction. */
  private async scanBacklog(): Promise<void> {
    for await (const claims of this.backlog.claim()) {
      this.run(claims);
      if (this.isStopping) return;
    }
  }

  private async renew(): Promise<void> {
    const consumers = this.allConsumers();
    if (consumers.length > 0) await this.cursors.renew(consumers.map(({ claim }) => claim));
  }

  private async reportHorizon(): Promise<void> {
    this.metrics.noteHeldBack((await this.horizon.read()).heldBackSeconds);
  }

  private run(claims: readonly ClaimedCursor[]): void {
    for (const claim of claims) {
      const consumer = this.factory.start(claim);
      const consumers = this.consumers.get(claim.workspaceId) ?? new Map<string, DestinationConsumer>();
      this.consumers.set(claim.workspaceId, consumers.set(claim.destinationId, consumer));
      void consumer.finished.then(() => this.forget(claim, consumer));
      if (this.isStopping) void consumer.stop(AbortSignal.timeout(DELIVERIES_TIME));
    }
  }

  private forget({ workspaceId, destinationId }: ClaimedCursor, consumer: DestinationConsumer): void {
    const consumers = this.consumers.get(workspaceId);
    if (consumers?.get(destinationId) !== consumer) return;
    consumers.delete(destinationId);
    if (consumers.size === 0) this.consumers.delete(workspaceId);
    // The signal arrived between the consumer's last read and the end of its claim.
    if (consumer.isWoken) this.claims.request(workspaceId);
  }
}
