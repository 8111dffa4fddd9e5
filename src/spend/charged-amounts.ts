// The amounts of a call that consists of parts: those of the caller and of the providers, and the difference, which the operator pays.
import type { Charge, UnpaidCost, UnpaidReason } from '../domain/spend/charge.js';
import { add, atMost, difference } from '../domain/spend/money.js';
import type { PicoUsd } from '../domain/spend/money.js';
import type { SpendBound } from '../domain/spend/spend-limit.js';
import { UnpaidCostList } from './unpaid-cost-list.js';

/** The endpoint that bills a part of a call, and the tokens that it reports. */
export type BilledBy = Pick<UnpaidCost, 'provider' | 'endpoint' | 'isOwn' | 'reportedTokens'>;

/** Null where no price is known. */
export interface Bill {
  /** At most the bound of the part. */
  readonly cost: PicoUsd | null;
  /** By the provider's count. */
  readonly reported: PicoUsd | null;
  readonly isOverReported: boolean;
}

interface BilledPart {
  /** `credential` null: the operator's. Through an own provider key the provider bills its owner. */
  readonly target: { readonly credential: object | null };
}

export class ChargedAmounts<Part extends BilledPart> {
  private readonly unpaid = new UnpaidCostList();
  private paid: PicoUsd | null = 0n;
  private reported: PicoUsd | null = 0n;
  private own: PicoUsd | null = 0n;
  private isByok = false;

  constructor(
    /** Whether the caller pays the served parts. */
    readonly isPaid: boolean,
    /** Asked for the parts that the operator pays: hardly any. */
    private readonly billedBy: (part: Part) => BilledBy,
  ) {}

  /** `isKept`: the record of an earlier call has the provider's bill. */
  addServed(part: Part, { cost, reported, isOverReported }: Bill, isKept = false): void {
    const isOwn = part.target.credential !== null;
    if (isOwn) {
      this.isByok = true;
      this.own = add(this.own, isKept ? 0n : cost);
    } else {
      this.reported = add(this.reported, isKept ? 0n : reported);
      this.paid = add(this.paid, this.isPaid ? cost : 0n);
      if (!this.isPaid && !isKept) this.unpaid.add(this.billedBy(part), 'failed_call', reported);
    }
    if (isOverReported && !isKept && (this.isPaid || isOwn))
      this.unpaid.add(this.billedBy(part), 'over_reported', difference(reported, cost));
  }

  addWasted(part: Part, reason: UnpaidReason, amount: PicoUsd | null): void {
    // Limits have reserved one answer for each part of an own key.
    if (part.target.credential !== null) return;
    this.reported = add(this.reported, amount);
    this.unpaid.add(this.billedBy(part), reason, amount);
  }

  /** The operator pays what exceeds the reservation. `shared`: one that its credential has called. */
  boundBy(reserved: SpendBound, shared: Part | undefined): void {
    const paid = atMost(this.paid, reserved.cost);
    if (paid !== this.paid && shared)
      this.unpaid.add(this.billedBy(shared), 'over_reported', difference(this.paid, paid));
    this.paid = paid;
    this.own = atMost(this.own, reserved.costWithByok - (paid ?? 0n));
  }

  toCharge(): Pick<Charge, 'cost' | 'upstreamCost' | 'isByok' | 'unpaid'> {
    const { isByok, paid, own, reported } = this;
    return { cost: paid, upstreamCost: isByok ? own : reported, isByok, unpaid: this.unpaid.costs };
  }
}
