// Why an endpoint did not serve: data for routing and for the caller's error.
import type { NativeError } from '../../domain/errors.js';
import type { ReportedUsage, UnsupportedRequest } from '../../providers/shared/provider.js';
import { consequencesOf } from './failure-classes.js';
import type { FailureClass, FailureConsequences } from './failure-classes.js';

interface FailureOptions {
  readonly cause?: unknown;
  readonly code?: string | null;
  /** Seconds. */
  readonly retryAfter?: number | null;
  readonly usage?: ReportedUsage | null;
  /** The provider's words alone name the class. */
  readonly isByWords?: boolean;
  /** The member that the provider does not support. */
  readonly unsupported?: UnsupportedMember;
  /** A member that the provider refused although this service has sent it. */
  readonly refusedMember?: string | undefined;
  readonly native?: NativeError | null;
}

export type UnsupportedMember = Pick<UnsupportedRequest, 'at' | 'rule'>;

export class EndpointFailure extends Error {
  readonly consequences: FailureConsequences;
  readonly providerCode: string | null;
  readonly retryAfter: number | null;
  /** As an answer reports it that cannot be used: the provider charges for it. */
  readonly usage: ReportedUsage | null;
  /** The member that the provider does not support; null where none is named. */
  unsupported: UnsupportedMember | null;
  /** The member that the provider itself refused, in an answer. */
  readonly refusedMember: string | null;
  /** The provider's own bytes, for a client of its wire; null: they stay here. */
  readonly native: NativeError | null;

  constructor(
    readonly failureClass: FailureClass,
    /** The upstream's status; null when it did not answer with one. */
    readonly status: number | null,
    /** May reach a caller: without secrets and inner names. */
    message: string,
    options: FailureOptions = {},
  ) {
    super(message, { cause: options.cause });
    this.consequences = consequencesOf({ failureClass, isByWords: options.isByWords ?? false });
    this.providerCode = options.code ?? null;
    this.retryAfter = options.retryAfter ?? null;
    this.usage = options.usage ?? null;
    this.unsupported = options.unsupported ?? null;
    this.refusedMember = options.refusedMember ?? null;
    this.native = options.native ?? null;
  }

  /** The words of a provider may repeat what the caller sent: the log does without them. */
  get logMessage(): string {
    return this.status === null ? this.message : `${this.failureClass}: HTTP ${this.status}`;
  }

  get wasSent(): boolean {
    return this.failureClass !== 'unsupported' && this.failureClass !== 'saturated';
  }

  /** Providers name an input by its index in the slice, callers by its index in the call. */
  shiftInputs(start: number): void {
    if (typeof this.unsupported?.at !== 'object') return;
    const { at, rule } = this.unsupported;
    this.unsupported = { at: { ...at, index: at.index + start }, rule };
  }
}
