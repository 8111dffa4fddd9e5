// The operators' view and control of the deliveries to a destination.
import { Injectable } from '@nestjs/common';
import { BucketRate, MemoryBuckets } from '../auth/token-buckets.js';
import { ConnectionTester } from '../deliveries/connection-test.js';
import { DESTINATIONS_CHANNEL } from '../deliveries/workspace-destinations.js';
import { WebhookSignatures } from '../deliveries/batches/webhook-signatures.js';
import type { Manager } from '../domain/people/manager.js';
import { hasRight } from '../domain/people/rights.js';
import { Clock } from '../domain/clock.js';
import {
  MAX_DELIVERY_AGE,
  MAX_PREVIEWS_PER_MINUTE,
  MAX_REPLAYS_PER_HOUR,
  MAX_TESTS_PER_MINUTE,
  statusIn,
} from '../domain/destinations/delivery.js';
import type { ConnectionTest } from '../domain/destinations/delivery.js';
import type { Destination } from '../domain/destinations/destination.js';
import { AppError } from '../domain/errors.js';
import { rateLimitExceeded } from '../domain/rate-limit.js';
import { readCursor, writeCursor } from '../http/dto/page-query.dto.js';
import { contentFieldOf } from '../domain/destinations/filter-match.js';
import { Notifications } from '../persistence/database/notifications.js';
import { DeadLettersRepository } from '../persistence/deliveries/dead-letters.repository.js';
import type {
  DeadLetterCursor,
  StoredDeadLetter,
} from '../persistence/deliveries/dead-letters.repository.js';
import { DeliveryStatesRepository } from '../persistence/deliveries/delivery-states.repository.js';
import type { DeliveryState } from '../persistence/deliveries/delivery-states.repository.js';
import type { LimitedResult } from '../persistence/deliveries/replay-limits.repository.js';
import { ReplayLimitsRepository } from '../persistence/deliveries/replay-limits.repository.js';
import { DestinationsService } from './destinations.service.js';
import type { DeadLettersQueryDto } from './dto/delivery.dto.js';
import type { DestinationsQueryDto } from './dto/destination.dto.js';
import type { TestDestinationDto } from './dto/destination-bodies.dto.js';
import type { PreviewSelectionDto } from './dto/selection-preview.dto.js';
import type { CreateReplayDto } from './dto/replay.dto.js';
import { SelectionPreview } from './selection-preview.js';
import type { SelectionCounts } from './selection-preview.js';

export interface DeadLetters {
  readonly letters: readonly StoredDeadLetter[];
  /** The number of items in the whole list. */
  readonly total: number;
  /** Null: there is no next page. */
  readonly nextCursor: string | null;
}

export interface DescribedDestination {
  readonly destination: Destination;
  readonly state: DeliveryState;
}

// Accounts whose tests and previews of unsaved settings a process counts.
const MAX_TESTING_ACCOUNTS = 10_000;

@Injectable()
export class DeliveriesService {
  private readonly settingsTests = new MemoryBuckets(
    new BucketRate(MAX_TESTS_PER_MINUTE),
    MAX_TESTING_ACCOUNTS,
  );
  private readonly previews = new MemoryBuckets(
    new BucketRate(MAX_PREVIEWS_PER_MINUTE),
    MAX_TESTING_ACCOUNTS,
  );

  constructor(
    private readonly destinations: DestinationsService,
    private readonly states: DeliveryStatesRepository,
    private readonly deadLetters: DeadLettersRepository,
    private readonly limits: ReplayLimitsRepository,
    private readonly tester: ConnectionTester,
    private readonly selection: SelectionPreview,
    private readonly signatures: WebhookSignatures,
    private readonly clock: Clock,
    private readonly notifications: Notifications,
  ) {}

  async test(manager: Manager, id: string): Promise<ConnectionTest> {
    const destination = await this.destinations.get(manager, id);
    const wait = await this.limits.limitTest(refOf(destination));
    if (wait !== null) throw this.tooOften('can be tested', MAX_TESTS_PER_MINUTE, 'a minute', wait);
    const result = await this.tester.test(destination);
    if (result.problem === null) await this.resume(destination);
    return result;
  }

  /** Tests settings that are not saved. The limit holds for each account in each process. */
  async testSettings(manager: Manager, dto: TestDestinationDto): Promise<ConnectionTest> {
    const destination = await this.destinations.resolveConfig(manager, dto);
    const wait = this.settingsTests.take(manager.accountId, this.clock.now().getTime());
    if (wait > 0) throw this.tooOften('can be tested', MAX_TESTS_PER_MINUTE, 'a minute', wait);
    return this.tester.test(destination);
  }

  /** Applies rules that are not saved. The limit holds for each account in each process. */
  async previewSelection(manager: Manager, dto: PreviewSelectionDto): Promise<SelectionCounts> {
    const rules = await this.destinations.resolveSelection(manager, dto);
    const wait = this.previews.take(manager.accountId, this.clock.now().getTime());
    if (wait > 0) throw this.tooOften('can be previewed', MAX_PREVIEWS_PER_MINUTE, 'a minute', wait);
    return this.selection.count(rules);
  }

  /** The platform accepts requests again: waiting deliveries need not wait for their next attempt. */
  private async resume(destination: Destination): Promise<void> {
    if (await this.states.resume(refOf(destination)))
      await this.notifications.notify(DESTINATIONS_CHANNEL, [destination.workspaceId]);
  }

  /** The secret by which the receiver of a webhook verifies signatures. */
  async signingSecret(manager: Manager, id: string): Promise<string> {
    const destination = await this.destinations.get(manager, id);
    return this.signatures.secretOf(destination.id);
  }

  async describe(manager: Manager, id: string): Promise<DescribedDestination> {
    const destination = await this.destinations.get(manager, id);
    const since = new Date(this.clock.now().getTime() - MAX_DELIVERY_AGE);
    const state = (await this.states.findAll([refOf(destination)], since)).get(destination.id);
    // It was deleted a moment ago, or its workspace was.
    if (!state)
      throw new AppError('not_found', {
        detail: 'the destination was deleted; nothing is delivered to it any more',
      });
    return described(manager, destination, state);
  }

  /** The states of a workspace's destinations, in the order of their list. */
  async list(
    manager: Manager,
    query: DestinationsQueryDto,
  ): Promise<{ readonly deliveries: readonly DescribedDestination[]; readonly total: number }> {
    const { destinations, total } = await this.destinations.list(manager, query);
    const since = new Date(this.clock.now().getTime() - MAX_DELIVERY_AGE);
    const states = await this.states.findAll(destinations.map(refOf), since);
    const deliveries = destinations.flatMap((destination) => {
      const state = states.get(destination.id);
      return state === undefined ? [] : [described(manager, destination, state)];
    });
    return { deliveries, total };
  }

  async listDeadLetters(
    manager: Manager,
    id: string,
    { cursor, offset, limit }: DeadLettersQueryDto,
  ): Promise<DeadLetters> {
    const after = cursor === undefined ? undefined : toLetterCursor(readCursor(cursor));
    const destination = await this.destinations.get(manager, id);
    const ref = refOf(destination);
    // One more shows whether there is a next page.
    const found = await this.deadLetters.list(ref, { offset, limit: limit + 1, after });
    const letters = found.letters.slice(0, limit);
    const last = found.letters.length > limit ? letters.at(-1) : undefined;
    const hidesText = hidesTextOf(manager, destination);
    const shown = letters.map((letter) => withoutText(letter, hidesText));
    return {
      letters: shown,
      total: found.total,
      nextCursor:
        last === undefined ? null : writeCursor({ createdAt: last.createdAt, id: last.generationId }),
    };
  }

  /** The number of requested dead letters; null for a replay from a time. */
  async replay(
    manager: Manager,
    id: string,
    { from, dead_letters: letters }: CreateReplayDto,
  ): Promise<number | null> {
    const destination = await this.destinations.get(manager, id);
    const ref = refOf(destination);
    if ((from === undefined) === (letters === undefined)) {
      throw new AppError('invalid_request', { detail: 'one of from and dead_letters must be given' });
    }
    const now = this.clock.now();
    if (from === undefined) {
      const ids = letters === 'all' ? null : (letters ?? []);
      return this.unlessLimited(
        await this.limits.limitReplay(ref, (run) => this.deadLetters.requestReplay(run, ref, ids, now)),
      );
    }
    const moment = new Date(from);
    if (moment > now || now.getTime() - moment.getTime() > MAX_DELIVERY_AGE) {
      throw new AppError('invalid_request', { detail: 'from: must be within the last 24 hours' });
    }
    // Contents are not stored after their delivery, so rules on them could not be applied again.
    const field = contentFieldOf(destination.filterRules);
    if (field !== null) {
      throw new AppError('invalid_request', {
        detail: `from: the destination filters by ${field}, which is not kept for a replay`,
      });
    }
    let isOn = false;
    const limited = await this.limits.limitReplay(ref, async (run) => {
      isOn = await this.states.replayFrom(run, ref, moment);
      return null;
    });
    this.unlessLimited(limited);
    if (!isOn) {
      throw new AppError('conflict', {
        detail: 'the destination, or broadcasting in its workspace, is switched off; switch it on first',
      });
    }
    return null;
  }

  private unlessLimited<Result>(limited: LimitedResult<Result>): Result {
    switch (limited.is) {
      case 'admitted':
        return limited.result;
      case 'running':
        throw new AppError('conflict', {
          detail: 'a replay to this destination is still running; wait until it has ended',
        });
      case 'too_often':
        throw this.tooOften('can be replayed to', MAX_REPLAYS_PER_HOUR, 'an hour', limited.retryAfter);
    }
  }

  private tooOften(action: string, limit: number, period: string, retryAfter: number): AppError {
    return rateLimitExceeded({
      limit,
      retryAfter,
      now: this.clock.now(),
      detail: () => `a destination ${action} ${limit} times ${period}`,
    });
  }
}

function described(manager: Manager, destination: Destination, state: DeliveryState): DescribedDestination {
  const hidesText = hidesTextOf(manager, destination);
  return {
    destination,
    state: { ...state, lastError: state.lastError && withoutText(state.lastError, hidesText) },
  };
}

/**
 * Texts of platforms that were stored before privacy mode was switched on. And those for people who only read the destination:
 * a platform may repeat contents.
 */
function hidesTextOf(manager: Manager, { privacyMode, workspaceId }: Destination): boolean {
  return privacyMode || !hasRight(manager, 'destinations.change', workspaceId);
}

function withoutText<Shown extends { readonly message: string }>(shown: Shown, hidesText: boolean): Shown {
  return hidesText ? { ...shown, message: statusIn(shown.message) } : shown;
}

function refOf({ workspaceId, id }: Destination) {
  return { workspaceId, destinationId: id };
}

function toLetterCursor({ createdAt, id }: ReturnType<typeof readCursor>): DeadLetterCursor {
  return { createdAt, generationId: id };
}
