// The list of keys: its orders and the states that it filters by (docs/contract.md#api-keys).

export const KEY_ORDERS = ['created', 'name', 'spend', 'last_used', 'expires'] as const;
export type KeyOrder = (typeof KEY_ORDERS)[number];

/** `stopped`: a limit refuses its calls. `expiring`: within 7 days. `unused`: without a call for 30 days. */
export const KEY_STATES = ['stopped', 'expiring', 'unused', 'disabled'] as const;
export type KeyState = (typeof KEY_STATES)[number];

export const DIRECTIONS = ['asc', 'desc'] as const;
type Direction = (typeof DIRECTIONS)[number];

const DEFAULT_DIRECTION: Readonly<Record<KeyOrder, Direction>> = {
  created: 'desc',
  name: 'asc',
  spend: 'desc',
  last_used: 'desc',
  expires: 'asc',
};

/** Whether the list descends, in the direction that was asked for, or in that of the order. */
export function isDescending(order: KeyOrder, direction: Direction = DEFAULT_DIRECTION[order]): boolean {
  return direction === 'desc';
}
