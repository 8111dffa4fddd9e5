// Claims the destinations that something waits for and runs a lane for each, woken by the log and by its own sweeps.
import { setMaxListeners } from 'node:events';
import { Injectable, Logger } from '@nestjs/common';
import type { BeforeApplicationShutdown, OnApplicationBootstrap } from '@nestjs/common';
import { AppConfig } from '../../config/app-config.js';
import { Clock } from '../../domain/clock.js';
import { DeliveryCursorsRepository } from '../../persistence/deliveries/delivery-cursors.repository.js';
import type { ClaimedCursor } from '../../persistence/deliveries/delivery-cursors.repository.js';
import { LogHorizonReader } from '../../persistence/generations/log-horizon.js';
import { Notifications } from '../../persistence/database/notifications.js';
import { APPENDED_CHANNEL, readAppended } from '../log/generation-events.js';
import { BroadcastTermsCache, TERMS_CHANNEL } from '../workspace-destinations.js';
import { ContentSweeper } from '../log/content-sweeper.js';
import { DeliveryLane } from './destination-consumer.js';
import { Gathering } from '../../concurrency/debouncer.js';
import { LaneServices } from './consumer-services.js';
import { reachOfLog } from '../log/log-tail.js';
import { PacedClaims } from './keyed-throttle.js';
import { WaitingSweep } from './backlog-scan.js';

// Milliseconds.
const RENEW_INTERVAL = 10_000;
const DUE_INTERVAL = 1_000;
const HORIZON_INTERVAL = 5_000;
// For which changes are gathered: whoever makes many destinations stirs many workspaces at once.
const GATHERING_TIME = 250;
// Destinations or workspaces that one statement claims or looks at.
const AT_ONCE = 200;
// Milliseconds that requests under way have to end in when the process stops.
const STOP_GRACE = 5_000;

@Injectable()
export class Dispatcher implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger(Dispatcher.name);
  /** By workspace, then by destination. */
  private readonly lanes = new Map<string, Map<string, DeliveryLane>>();
  private readonly claims = new PacedClaims((workspaceId) =>
    this.claim(() => this.cursors.claimWorkspace(workspaceId)),
  );
  private readonly stirred = new Gathering(GATHERING_TIME, (workspaceIds) => this.claimStirred(workspaceIds));
  private readonly waiting: WaitingSweep;
  private timers: NodeJS.Timeout[] = [];
  private isStopping = false;

  constructor(
    private readonly cursors: DeliveryCursorsRepository,
    private readonly terms: BroadcastTermsCache,
    private readonly services: LaneServices,
    private readonly contents: ContentSweeper,
    private readonly horizon: LogHorizonReader,
    private readonly config: AppConfig,
    private readonly clock: Clock,
    notifications: Notifications,
  ) {
    this.waiting = new WaitingSweep(cursors, () => reachOfLog(clock.now()));
    notifications.subscribe({
      channel: APPENDED_CHANNEL,
      onConnected: () => this.waiting.doubt(),
      onNotification: (payload) => {
        const { workspaceId, replicaId } = readAppended(payload);
        this.wakeLanes(workspaceId);
        if (replicaId === config.replicaId) void this.claimMissing(workspaceId);
      },
    });
    notifications.subscribe({
      channel: TERMS_CHANNEL,
      onNotification: (workspaceId) => this.reconsider(workspaceId),
    });
  }

  onApplicationBootstrap(): void {
    this.every(RENEW_INTERVAL, () => this.renew());
    this.every(DUE_INTERVAL, async () => this.run(await this.cursors.claimDue(AT_ONCE)));
    this.every(this.config.broadcast.sweepInterval, () => this.sweep());
    this.every(HORIZON_INTERVAL, async () => {
      this.services.metrics.noteHeldBack((await this.horizon.read()).heldBackSeconds);
    });
    void this.sweep().catch(() => undefined);
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.isStopping = true;
    for (const timer of this.timers) clearInterval(timer);
    const grace = AbortSignal.timeout(STOP_GRACE);
    // One for each lane; Node warns of more than ten.
    setMaxListeners(0, grace);
    await Promise.all(this.allLanes().map((lane) => lane.stop(grace)));
  }

  /** Generations of this workspace were committed by this replica. */
  private async claimMissing(workspaceId: string): Promise<void> {
    try {
      const terms = await this.terms.find(workspaceId);
      const lanes = this.lanes.get(workspaceId);
      const isAllHere = [...(terms?.targets.keys() ?? [])].every((id) => lanes?.has(id));
      if (!isAllHere) this.claims.ask(workspaceId);
    } catch (error) {
      this.waiting.doubt();
      this.logger.debug({ error }, 'the destinations of a workspace could not be read');
    }
  }

  private allLanes(): DeliveryLane[] {
    const all: DeliveryLane[] = [];
    for (const lanes of this.lanes.values()) all.push(...lanes.values());
    return all;
  }

  private wakeLanes(workspaceId: string): void {
    for (const lane of this.lanes.get(workspaceId)?.values() ?? []) lane.wake();
  }

  /**
   * Claims only what has something to do: a destination without traffic, and each new one is that, needs no lane. What
   * this replica appends from now on claims all that are missing, since it knows of the change.
   */
  private reconsider(workspaceId: string): void {
    for (const lane of this.lanes.get(workspaceId)?.values() ?? []) lane.reconsider();
    this.contents.note(workspaceId);
    this.stirred.add(workspaceId);
  }

  private async claimStirred(workspaceIds: readonly string[]): Promise<void> {
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
      this.waiting.doubt();
      this.logger.debug({ error }, 'destinations could not be claimed');
    }
  }

  /** What nobody was woken for: after a crash, a lost notification, or a transaction that was open for long. */
  private async sweep(): Promise<void> {
    for await (const claims of this.waiting.claim()) {
      this.run(claims);
      if (this.isStopping) return;
    }
  }

  private async renew(): Promise<void> {
    const lanes = this.allLanes();
    if (lanes.length > 0) await this.cursors.renew(lanes.map(({ claim }) => claim));
  }

  private run(claims: readonly ClaimedCursor[]): void {
    for (const claim of claims) {
      const lane = new DeliveryLane(claim, this.services);
      const lanes = this.lanes.get(claim.workspaceId) ?? new Map<string, DeliveryLane>();
      this.lanes.set(claim.workspaceId, lanes.set(claim.destinationId, lane));
      void lane.finished.then(() => this.forget(claim, lane));
      if (this.isStopping) void lane.stop(AbortSignal.timeout(STOP_GRACE));
    }
  }

  private forget({ workspaceId, destinationId }: ClaimedCursor, lane: DeliveryLane): void {
    const lanes = this.lanes.get(workspaceId);
    if (lanes?.get(destinationId) !== lane) return;
    lanes.delete(destinationId);
    if (lanes.size === 0) this.lanes.delete(workspaceId);
    // It came between the lane's last look and the end of its claim.
    if (lane.isWoken) this.claims.ask(workspaceId);
  }

  /** Never two at once; a failure waits for the next time. */
  private every(interval: number, act: () => Promise<void>): void {
    let isRunning = false;
    const timer = setInterval(() => {
      if (isRunning) return;
      isRunning = true;
      void act()
        .catch((error: unknown) => this.logger.debug({ error }, 'the database did not answer a sweep'))
        .finally(() => {
          isRunning = false;
        });
    }, interval);
    timer.unref();
    this.timers.push(timer);
  }
}
