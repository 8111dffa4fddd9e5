// The outcome of one generation at each destination of its workspace. No row of a generation and a destination exists: the state
// follows from the position of the cursor, the dead letters, and the rules of the destination as they are now.
import { Injectable } from '@nestjs/common';
import { YieldQueue } from '../concurrency/yield-queue.js';
import type { Work } from '../concurrency/yield-queue.js';
import { isSelected } from '../deliveries/batches/entry-decision.js';
import { Clock } from '../domain/clock.js';
import { hadCommitted, isBehind, MAX_DELIVERY_AGE, statusIn } from '../domain/destinations/delivery.js';
import type { LogPosition } from '../domain/destinations/delivery.js';
import { compileSelection, isSampled } from '../domain/destinations/destination-selection.js';
import type { Destination } from '../domain/destinations/destination.js';
import { contentFieldOf, UnusableFilter } from '../domain/destinations/filter-match.js';
import type { GenerationCandidate } from '../domain/generations/generation-candidate.js';
import { reachesWorkspace } from '../domain/people/manager.js';
import type { Manager } from '../domain/people/manager.js';
import { reachOf } from '../domain/people/rights.js';
import { DeliveryStatesRepository } from '../persistence/deliveries/delivery-states.repository.js';
import type {
  CursorState,
  DeliveryError,
  StatesOfGeneration,
} from '../persistence/deliveries/delivery-states.repository.js';
import { DestinationsRepository } from '../persistence/destinations/destinations.repository.js';
import { GenerationReader } from '../persistence/generations/generation-reader.js';
import { ApiKeysRepository } from '../persistence/keys/api-keys.repository.js';
import { GenerationsService } from './generations.service.js';

// Five of each kind fit into a workspace.
const ALL = { offset: 0, limit: 100 };

export const DELIVERY_STATES = [
  'delivered',
  'waiting',
  'retrying',
  'paused',
  'dead_letter',
  'dropped',
  'not_selected',
  'unknown',
] as const;

interface Outcome {
  readonly state: (typeof DELIVERY_STATES)[number];
  readonly reason: string | null;
}

export interface GenerationDelivery extends Outcome {
  readonly destination: Destination;
  /** The newest success of the destination; null unless delivered. */
  readonly deliveredBefore: Date | null;
  readonly nextAttemptAt: Date | null;
  readonly lastError: DeliveryError | null;
  /** Whether the destination was changed after the call. */
  readonly isChanged: boolean;
}

/** The facts about a generation and one destination. */
interface Facts {
  readonly destination: Destination;
  readonly cursor: CursorState;
  readonly candidate: GenerationCandidate;
  readonly position: LogPosition;
  readonly states: StatesOfGeneration;
}

@Injectable()
export class GenerationDeliveriesService {
  constructor(
    private readonly generations: GenerationsService,
    private readonly reader: GenerationReader,
    private readonly destinations: DestinationsRepository,
    private readonly states: DeliveryStatesRepository,
    private readonly apiKeys: ApiKeysRepository,
    private readonly yieldQueue: YieldQueue,
    private readonly clock: Clock,
  ) {}

  async list(manager: Manager, id: string): Promise<readonly GenerationDelivery[]> {
    const generation = await this.generations.get(manager, id);
    const { accountId, workspaceId, apiKeyId } = generation;
    const [{ destinations }, states, [logged], [key]] = await Promise.all([
      this.destinations.list(accountId, workspaceId, ALL),
      this.states.findOfGeneration(generation),
      this.reader.readNamed(workspaceId, [generation]),
      this.apiKeys.findForTraces(workspaceId, [apiKeyId]),
    ]);
    // Deliveries of a purged key's calls ended long ago.
    if (!logged || !key) return [];
    const candidate = { generation, key, content: null };
    const work = this.yieldQueue.begin(accountId);
    const deliveries: GenerationDelivery[] = [];
    for (const destination of destinations) {
      const cursor = states.cursors.get(destination.id);
      if (!cursor) continue;
      const facts = { destination, cursor, candidate, position: logged.position, states };
      deliveries.push(describe(facts, await this.outcomeOf(facts, work)));
    }
    return readsPlatformTexts(manager, workspaceId) ? deliveries : deliveries.map(withoutPlatformTexts);
  }

  private async outcomeOf(facts: Facts, work: Work): Promise<Outcome> {
    const { destination, cursor, candidate, position, states } = facts;
    const letter = states.deadLetters.get(destination.id);
    if (letter?.isDelivered === true) return { state: 'delivered', reason: null };
    if (letter) return { state: 'dead_letter', reason: letter.reason };
    if (hadCommitted(cursor.start, position.transaction))
      return { state: 'not_selected', reason: 'before_start' };
    const excluded = await exclusionOf(destination, candidate, work);
    if (excluded !== null) return { state: 'not_selected', reason: excluded };
    return isBehind(position, cursor.position) ? this.waitingState(facts) : passedState(facts);
  }

  private waitingState({ destination, cursor, candidate, states }: Facts): Outcome {
    if (!destination.enabled) return { state: 'not_selected', reason: 'disabled' };
    if (!states.isSwitchedOn) return { state: 'not_selected', reason: 'workspace_disabled' };
    const age = this.clock.now().getTime() - candidate.generation.createdAt.getTime();
    if (age > MAX_DELIVERY_AGE) return { state: 'dropped', reason: 'expired' };
    if (cursor.pausedAt !== null) return { state: 'paused', reason: null };
    return { state: cursor.failures > 0 ? 'retrying' : 'waiting', reason: null };
  }
}

/** The cursor counts drops by reason and not by generation: without a success since the call, all of them were drops. */
function passedState({ destination, cursor, candidate }: Facts): Outcome {
  const { lastSuccessAt, dropped } = cursor;
  if (lastSuccessAt === null || lastSuccessAt < candidate.generation.createdAt) {
    const reasons = Object.keys(dropped);
    return { state: 'dropped', reason: reasons.length === 1 ? (reasons[0] ?? null) : null };
  }
  if (contentFieldOf(destination.filterRules) !== null) return { state: 'unknown', reason: 'content_gone' };
  return { state: 'delivered', reason: null };
}

/** The rule that excludes the generation; null: none that can be evaluated without its content. */
async function exclusionOf(
  destination: Destination,
  candidate: GenerationCandidate,
  work: Work,
): Promise<string | null> {
  const { generation, key } = candidate;
  const { regions, apiKeyHashes, filterRules } = destination;
  if (!regions.some((region) => region === generation.region)) return 'region';
  if (apiKeyHashes?.length && !apiKeyHashes.includes(key.hash)) return 'api_key';
  if (!isSampled(destination, generation)) return 'sampling';
  if (contentFieldOf(filterRules) !== null) return null;
  try {
    return (await isSelected(compileSelection(destination), candidate, work)) ? null : 'filter';
  } catch (error) {
    // Its consumer is paused for the same reason.
    if (error instanceof UnusableFilter) return null;
    throw error;
  }
}

/** A platform may quote the calls of a batch, others' among them: its words are for those who manage the destination. */
function readsPlatformTexts({ person }: Manager, workspaceId: string): boolean {
  if (person === null) return true;
  const reach = reachOf(person, 'destinations.change');
  return reach !== null && reachesWorkspace(reach, workspaceId);
}

function withoutPlatformTexts(delivery: GenerationDelivery): GenerationDelivery {
  const { lastError } = delivery;
  return { ...delivery, lastError: lastError && { ...lastError, message: statusIn(lastError.message) } };
}

function describe({ destination, cursor, candidate }: Facts, outcome: Outcome): GenerationDelivery {
  const { state } = outcome;
  const { lastError } = cursor;
  const isTried = state === 'retrying' || state === 'paused';
  const isHidden = lastError !== null && destination.privacyMode;
  return {
    ...outcome,
    destination,
    deliveredBefore: state === 'delivered' ? cursor.lastSuccessAt : null,
    nextAttemptAt: isTried ? cursor.nextAttemptAt : null,
    lastError: isTried
      ? isHidden
        ? { ...lastError, message: statusIn(lastError.message) }
        : lastError
      : null,
    isChanged: destination.updatedAt > candidate.generation.createdAt,
  };
}
