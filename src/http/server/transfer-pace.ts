// The least rate of a transfer: whoever is slower holds memory or a permit for longer than the bytes are worth.

// Milliseconds in which nothing needs to move: a lost packet, a network that changes, a client that collects garbage.
export const GRACE = 10_000;
// Bytes a millisecond, on average. Far below any network that a call of this service makes sense on.
export const LEAST_RATE = 8_192 / 1_000;

/** Every byte that moves buys time, never more than the grace. */
export class TransferPace {
  private deadline: number;

  constructor(
    now: number,
    private moved = 0,
  ) {
    this.deadline = now + GRACE;
  }

  /** `moved` are the bytes of the transfer so far. */
  isTooSlow(moved: number, now: number): boolean {
    const bought = (moved - this.moved) / LEAST_RATE;
    this.moved = moved;
    this.deadline = Math.min(this.deadline + bought, now + GRACE);
    return now > this.deadline;
  }
}
