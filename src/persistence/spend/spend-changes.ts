// The sums by which calls and released reservations change counters and leases: one entry a counter, one a lease,
// both in the order in which their rows are locked everywhere.
import type { Generation } from '../../domain/generations/generation.js';
import { formatUsd } from '../../domain/spend/money.js';
import type { PicoUsd } from '../../domain/spend/money.js';
import type { SpendRelease } from '../../domain/spend/spend-limit.js';
import type { SpendOwner, SpendLease } from '../../domain/spend/spend-lease.js';
import { writeRecords } from '../database/rows/record-rows.js';
import { CHANGE_COLUMNS, RELEASE_COLUMNS } from './spend-statements.js';

/** The members of a generation that change its counters. */
export type Charged = Pick<
  Generation,
  'workspaceId' | 'accountId' | 'apiKeyId' | 'cost' | 'upstreamCost' | 'isByok'
>;

/** Lists of records, parameters of the functions settle_spend and settle_calls. */
export interface SpendChanges {
  readonly releases: string;
  readonly changes: string;
  /** An amount for each change; empty: all are 0. */
  readonly unpaid: string;
}

class Change {
  /** Its index among all changes, from 1. */
  place = 0;
  cost: PicoUsd = 0n;
  byokCost: PicoUsd = 0n;
  released: PicoUsd = 0n;
  unpaid: PicoUsd = 0n;

  constructor(readonly owner: SpendOwner) {}

  get isNone(): boolean {
    return this.cost === 0n && this.byokCost === 0n && this.released === 0n && this.unpaid === 0n;
  }
}

/** `unpaid`: what each generation leaves unpaid. */
export function describeSpend(
  generations: readonly Charged[],
  releases: readonly SpendRelease[],
  unpaid: readonly PicoUsd[] = [],
): SpendChanges {
  const changes = new ChangeList();
  for (const [index, generation] of generations.entries()) {
    const { workspaceId, accountId, apiKeyId, cost, upstreamCost, isByok } = generation;
    const keyUnpaid = unpaid[index] ?? 0n;
    const byokCost = isByok ? (upstreamCost ?? 0n) : 0n;
    for (const owner of [
      { kind: 'key', workspaceId, id: apiKeyId },
      { kind: 'workspace', workspaceId, id: workspaceId },
      { kind: 'account', workspaceId: accountId, id: accountId },
    ] as const) {
      const change = changes.of(owner);
      change.cost += cost ?? 0n;
      change.byokCost += byokCost;
      if (owner.kind === 'key') change.unpaid += keyUnpaid;
    }
  }
  const given = new Map<SpendLease, PicoUsd>();
  for (const { lease, amount } of releases) {
    given.set(lease, (given.get(lease) ?? 0n) + amount);
    changes.of(lease.owner).released += amount;
  }
  const inOrder = changes.inOrder();
  return {
    releases: writeRecords(
      RELEASE_COLUMNS,
      [...given]
        .filter(([, amount]) => amount !== 0n)
        .toSorted(([one], [other]) => compare(one.id, other.id))
        .map(([lease, amount]) => ({
          change: changes.of(lease.owner).place,
          workspace_id: lease.owner.workspaceId,
          holder_id: lease.owner.id,
          lease_id: lease.id,
          amount: formatUsd(amount),
        })),
    ),
    changes: writeRecords(
      CHANGE_COLUMNS,
      inOrder.map(({ owner, cost, byokCost, released }) => ({
        holder: owner.kind,
        workspace_id: owner.workspaceId,
        holder_id: owner.id,
        cost: formatUsd(cost),
        byok_cost: formatUsd(byokCost),
        released: formatUsd(released),
      })),
    ),
    unpaid: inOrder.some((change) => change.unpaid !== 0n)
      ? `{${inOrder.map((change) => formatUsd(change.unpaid)).join()}}`
      : '{}',
  };
}

class ChangeList {
  // In the order in which counters are locked.
  private readonly byKind = {
    key: new Map<string, Change>(),
    guardrail: new Map<string, Change>(),
    workspace: new Map<string, Change>(),
    account: new Map<string, Change>(),
  };

  of(owner: SpendOwner): Change {
    const known = this.byKind[owner.kind];
    let change = known.get(owner.id);
    if (!change) {
      change = new Change(owner);
      known.set(owner.id, change);
    }
    return change;
  }

  /** Without unchanged counters; sets the `place` of each. */
  inOrder(): readonly Change[] {
    const ordered = Object.values(this.byKind).flatMap((changes) =>
      [...changes.values()]
        .filter((change) => !change.isNone)
        .toSorted(
          ({ owner: one }, { owner: other }) =>
            compare(one.workspaceId, other.workspaceId) || compare(one.id, other.id),
        ),
    );
    for (const [index, change] of ordered.entries()) change.place = index + 1;
    return ordered;
  }
}

/** In PostgreSQL's order of UUIDs. */
function compare(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}
