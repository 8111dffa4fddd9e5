// Divides traces into groups that are sent at the same time. A session is in one group, so that its traces stay in the
// order of the log.
import type { GenerationTrace } from '../../domain/generations/generation-trace.js';
import { weightOf } from './payload-sizer.js';

export interface GroupLimits {
  /** Number of groups, at most. */
  readonly groups: number;
  /** Traces of one request. A group takes more only for a session that is longer, or when no group has room. */
  readonly maxTraces: number;
}

interface Group {
  traces: number;
  weight: number;
}

/** Each group has its traces in the order of the log; no group is empty. */
export function groupBySession(
  traces: readonly GenerationTrace[],
  { groups: count, maxTraces }: GroupLimits,
): readonly (readonly GenerationTrace[])[] {
  if (count <= 1) return [traces];
  const sessions = new Map<string, Group>();
  for (const trace of traces) {
    const key = sessionOf(trace);
    const session = sessions.get(key);
    if (!session) sessions.set(key, { traces: 1, weight: weightOf(trace) });
    else {
      session.traces++;
      session.weight += weightOf(trace);
    }
  }
  const groups: Group[] = Array.from({ length: count }, () => ({ traces: 0, weight: 0 }));
  const groupOf = new Map<string, Group>();
  for (const [key, session] of sessions) {
    const group = lightest(
      groups.filter((one) => one.traces + session.traces <= maxTraces),
      groups,
    );
    if (!group) continue;
    group.traces += session.traces;
    group.weight += session.weight;
    groupOf.set(key, group);
  }
  return groups
    .map((group) => traces.filter((trace) => groupOf.get(sessionOf(trace)) === group))
    .filter((group) => group.length > 0);
}

/** Sampling has the same unit (docs/contract.md#deliveries). An empty id is not a session. */
function sessionOf({ sessionId, traceId }: GenerationTrace): string {
  return sessionId || traceId;
}

function lightest(groupsWithRoom: readonly Group[], groups: readonly Group[]): Group | undefined {
  const [first, ...others] = groupsWithRoom.length > 0 ? groupsWithRoom : groups;
  return others.reduce((best, group) => (best && best.weight <= group.weight ? best : group), first);
}
