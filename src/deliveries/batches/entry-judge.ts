// Decides what is to become of logged generations, as far as that can be done without their contents, and without keeping
// the processor from anybody.
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

// Milliseconds of the processor after which rules have been applied to enough: the cursor moves, and the lane looks whether
// it is still to deliver at all.
const LONGEST_PASS = 250;

/** Of a candidate for sending the key that it is told with. */
export type Verdict = TracedKey | 'expired' | 'passed';

export interface Judging {
  readonly keys: ReadonlyMap<string, TracedKey>;
  /** What had committed then is not this destination's. */
  readonly start?: LogSnapshot | undefined;
  /** Somebody has asked for these by name, whatever their age and whether they would be chosen today. */
  readonly isNamed: boolean;
  readonly now: Date;
}

export interface JudgedEntry {
  readonly entry: LoggedGeneration;
  readonly verdict: Verdict;
  /** Of a candidate, what callers have said in it. */
  readonly textBytes: number;
}

export interface RunLimits {
  readonly maxTraces: number;
  /** Bytes of memory. */
  readonly most: number;
}

/** Whether rules have taken so long that a pass is to end here. */
export function isLongEnough(work: Work): boolean {
  return work.ruling >= LONGEST_PASS;
}

export async function isSelected(
  selection: Selection,
  candidate: GenerationCandidate,
  work: Work,
): Promise<boolean> {
  const pieces = selection.pieces?.(candidate);
  return pieces ? work.run(pieces) : selection.selects(candidate);
}

/** The run of entries whose candidates are few and small enough for one batch; one candidate is never too many. */
export async function takeWithin(
  target: DeliveryTarget,
  logged: readonly LoggedGeneration[],
  judging: Judging,
  { maxTraces, most }: RunLimits,
  work: Work,
): Promise<{ readonly judged: readonly JudgedEntry[]; readonly bytes: number }> {
  const { destination } = target;
  const judge = judgeOf(target, judging);
  const judged: JudgedEntry[] = [];
  const size = new BatchSize();
  const readsContents = needsContent(destination);
  for (const entry of logged) {
    if (isLongEnough(work)) break;
    const decision = judge(entry, work);
    const verdict = decision instanceof Promise ? await decision : decision;
    const isCandidate = typeof verdict === 'object';
    const textBytes = isCandidate ? textBytesOf(entry, destination, readsContents) : 0;
    if (isCandidate) {
      const isFull = size.traces >= maxTraces || !size.hasRoomFor(textBytes, most);
      if (isFull && size.traces > 0) break;
      size.addTrace(textBytes);
    } else {
      size.addOther();
    }
    judged.push({ entry, verdict, textBytes });
  }
  return { judged, bytes: size.bytes };
}

/**
 * Nothing is called expired that would have been passed over: rules come first, all that can be applied without the
 * content.
 */
function judgeOf(
  { kind, filtersByInput, selection, wanted }: DeliveryTarget,
  { keys, start, isNamed, now }: Judging,
): (entry: LoggedGeneration, work: Work) => Verdict | Promise<Verdict> {
  const general = isNamed ? Infinity : MAX_DELIVERY_AGE;
  const oldest = now.getTime() - Math.min(general, kind.delivery.limits.maxAge ?? Infinity);
  const rules = filtersByInput ? wanted : selection;
  return ({ position, generation }, work) => {
    if (start !== undefined && hadCommitted(start, position.transaction)) return 'passed';
    const key = keys.get(generation.apiKeyId);
    if (!key) return 'passed';
    const verdict = generation.createdAt.getTime() < oldest ? 'expired' : key;
    if (isNamed) return verdict;
    const candidate = { generation, key, content: null };
    if (rules.pieces === null) return rules.selects(candidate) ? verdict : 'passed';
    return isSelected(rules, candidate, work).then((isWanted) => (isWanted ? verdict : 'passed'));
  };
}
