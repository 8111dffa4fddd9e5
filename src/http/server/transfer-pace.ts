// The minimum rate of a transfer: a slower one holds memory or a permit for longer than its bytes are worth.

// Milliseconds that a transfer may pause: a lost packet, a network change, garbage collection in a client.
export const GRACE = 10_000;
// Bytes a millisecond, on average. Far below any network on which a call of this service is useful.
export const LEAST_RATE = 8_192 / 1_000;

/** Every byte earns time, up to the grace. */
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
