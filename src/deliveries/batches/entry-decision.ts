// Decides which logged generations to send, as far as possible without their contents, and yields to other accounts.
import type { LogSnapshot } from '../../domain/destinations/delivery.js';
import { MAX_DELIVERY_AGE, hadCommitted } from '../../domain/destinations/delivery.js';
import { needsContent } from '../../domain/destinations/destination-selection.js';
import type { Selection } from '../../domain/destinations/destination-selection.js';
import type { GenerationCandidate } from '../../domain/generations/generation-candidate.js';
import type { TracedKey } from '../../persistence/keys/api-keys.repository.js';
import type { LoggedGeneration } from '../../persistence/generations/generation-reader.js';
import type { DeliveryTarget } from '../workspace-destinations.js';
import { BatchSize, textBytesOf } from '../delivery-budget.js';
import type { Work } from '../../concurrency/yield-queue.js';

// Milliseconds of CPU time for the rules of one pass. Beyond it the pass ends: the cursor moves, and the consumer
// checks whether it still delivers.
const LONGEST_PASS = 250;

/** The key of a candidate for sending, or the reason why it is not one. */
export type EntryDecision = TracedKey | 'expired' | 'passed';

export interface DecisionContext {
  readonly keys: ReadonlyMap<string, TracedKey>;
  /** The destination does not receive entries that had committed by this snapshot. */
  readonly start?: LogSnapshot | undefined;
  /** A caller named these entries: their age and today's selection do not matter. */
  readonly isNamed: boolean;
  readonly now: Date;
}

export interface DraftEntry {
  readonly entry: LoggedGeneration;
  readonly decision: EntryDecision;
  /** Bytes of the caller's texts; 0 for entries that are not sent. */
  readonly textBytes: number;
}

export interface DraftLimits {
  readonly maxTraces: number;
  /** Requests that share the batch. */
  readonly requests: number;
  /** Bytes of memory. */
  readonly most: number;
}

/** Whether the rules have used up the time of a pass. */
export function isLongEnough(work: Work): boolean {
  return work.busyTime >= LONGEST_PASS;
}

export async function isSelected(
  selection: Selection,
  candidate: GenerationCandidate,
  work: Work,
): Promise<boolean> {
  const pieces = selection.pieces?.(candidate);
  return pieces ? work.run(pieces) : selection.selects(candidate);
}

/** The first entries whose candidates fit into one batch. A single candidate always fits. */
export async function draftEntries(
  target: DeliveryTarget,
  logged: readonly LoggedGeneration[],
  context: DecisionContext,
  limits: DraftLimits,
  work: Work,
): Promise<{ readonly entries: readonly DraftEntry[]; readonly bytes: number }> {
  const { destination } = target;
  const decide = deciderOf(target, context);
  const entries: DraftEntry[] = [];
  const size = new BatchSize();
  const readsContents = needsContent(destination);
  for (const entry of logged) {
    if (isLongEnough(work)) break;
    const pending = decide(entry, work);
    const decision = pending instanceof Promise ? await pending : pending;
    const isCandidate = typeof decision === 'object';
    const textBytes = isCandidate ? textBytesOf(entry, destination, readsContents) : 0;
    if (isCandidate) {
      const isFull = size.traces >= limits.maxTraces || !size.hasRoomFor(textBytes, limits);
      if (isFull && size.traces > 0) break;
      size.addTrace(textBytes);
    } else {
      size.addOther();
    }
    entries.push({ entry, decision, textBytes });
  }
  return { entries, bytes: size.bytes };
}

/**
 * Rules come before age: an entry that the rules exclude counts as passed over, not as expired. Rules on contents are
 * applied later.
 */
function deciderOf(
  { kind, filtersByContent, selection, wanted }: DeliveryTarget,
  { keys, start, isNamed, now }: DecisionContext,
): (entry: LoggedGeneration, work: Work) => EntryDecision | Promise<EntryDecision> {
  const general = isNamed ? Infinity : MAX_DELIVERY_AGE;
  const oldest = now.getTime() - Math.min(general, kind.delivery.limits.maxAge ?? Infinity);
  const rules = filtersByContent ? wanted : selection;
  return ({ position, generation }, work) => {
    if (start !== undefined && hadCommitted(start, position.transaction)) return 'passed';
    const key = keys.get(generation.apiKeyId);
    if (!key) return 'passed';
    const decision = generation.createdAt.getTime() < oldest ? 'expired' : key;
    if (isNamed) return decision;
    const candidate = { generation, key, content: null };
    if (rules.pieces === null) return rules.selects(candidate) ? decision : 'passed';
    return isSelected(rules, candidate, work).then((isWanted) => (isWanted ? decision : 'passed'));
  };
}
