// Why an endpoint did not serve, and what that means for the caller. Source: decisions 21, 22 and 23.
import { AppError } from '../../domain/errors.js';
import type { AppErrorOptions, ErrorCode } from '../../domain/errors.js';
import type { FailureKind, ProviderAnswer, UnsupportedRequest } from '../../providers/shared/provider.js';
import type { EndpointTarget } from './endpoint-target.js';

interface FailureOptions {
  readonly cause?: unknown;
  readonly code?: string | null;
  /** Seconds. */
  readonly retryAfter?: number | null;
  readonly usage?: Usage;
  /** The member that the provider does not support. */
  readonly unsupported?: UnsupportedMember;
}

type UnsupportedMember = Pick<UnsupportedRequest, 'at' | 'rule'>;
type Usage = Pick<ProviderAnswer, 'promptTokens' | 'totalTokens' | 'tokensByModality'>;

export class EndpointFailure extends Error {
  readonly providerCode: string | null;
  readonly retryAfter: number | null;
  /** As an answer tells it that cannot be used: the provider charges for it. */
  readonly usage: Usage | null;
  /** The member that the provider does not support; null where none is named. */
  unsupported: UnsupportedMember | null;

  constructor(
    readonly kind: FailureKind,
    /** The upstream's status; null when it did not answer with one. */
    readonly status: number | null,
    message: string,
    options: FailureOptions = {},
  ) {
    super(message, { cause: options.cause });
    this.providerCode = options.code ?? null;
    this.retryAfter = options.retryAfter ?? null;
    this.usage = options.usage ?? null;
    this.unsupported = options.unsupported ?? null;
  }

  /** The words of a provider may repeat what the caller sent: the log does without them. */
  get logMessage(): string {
    return this.status === null ? this.message : `${this.kind}: HTTP ${this.status}`;
  }

  /** It was not asked: the request needs something that this provider cannot do. */
  get isOwnRejection(): boolean {
    return this.kind === 'refused' && this.status === null;
  }

  /** It was not asked: as many calls as may be are under way there. */
  get isSaturation(): boolean {
    return this.kind === 'overloaded' && this.status === null;
  }

  /** Providers name an input by its index in the slice, callers by its index in the call. */
  shiftInputs(start: number): void {
    if (typeof this.unsupported?.at !== 'object') return;
    const { at, rule } = this.unsupported;
    this.unsupported = { at: { ...at, index: at.index + start }, rule };
  }

  /** Whether another endpoint may do better. */
  get isWorthAnother(): boolean {
    return this.isOwnRejection || !this.isAboutRequest;
  }

  /** Whether the same endpoint may do better a moment later. A time-out has cost the caller enough already. */
  get isWorthRepeating(): boolean {
    return this.kind === 'overloaded' || this.kind === 'failed';
  }

  /** Whether it speaks against the endpoint's health, and not about the request or the credential. */
  get isOutage(): boolean {
    return !this.isAboutRequest && this.kind !== 'credential';
  }

  private get isAboutRequest(): boolean {
    return this.kind === 'refused' || this.kind === 'too_large';
  }
}

export function failureOfStatus(status: number): FailureKind {
  if (status === 401 || status === 402 || status === 403) return 'credential';
  if (status === 429 || status === 503 || status === 529) return 'overloaded';
  if (status === 408 || status === 504 || status === 524) return 'timeout';
  if (status === 413) return 'too_large';
  // A model or path that the upstream does not know is for the operator to mend, not for the caller.
  if (status === 404 || status === 405) return 'failed';
  return status >= 400 && status < 500 ? 'refused' : 'failed';
}

const CODES: Readonly<Record<FailureKind, ErrorCode>> = {
  refused: 'invalid_request',
  too_large: 'payload_too_large',
  credential: 'provider_error',
  overloaded: 'provider_overloaded',
  timeout: 'provider_timeout',
  broken: 'provider_error',
  failed: 'provider_error',
};

// Longer texts help nobody, and a provider may echo the input.
const MAX_RAW_LENGTH = 1_000;

/** The caller's error where every credential that is left rests after a refusal. `rest`: seconds. */
export function restingError({ provider, credential }: EndpointTarget, rest: number): AppError {
  const owner = credential === null ? "the operator's credential" : "the workspace's own key";
  const remedy = credential === null ? '' : REMEDY;
  return new AppError('provider_error', {
    detail: `${provider.name} refused ${owner}, which is asked again in ${rest} s${remedy}`,
    metadata: { provider_name: provider.name, ...(credential === null ? {} : { is_byok: true }) },
    headers: { 'Retry-After': String(Math.max(1, rest)) },
  });
}

const REMEDY = '; check it at the provider, or replace it with PATCH /byok/{id}';

/** The caller's error for the last refusal of several own keys, after which no other one is asked. */
export function tooManyRejections(
  failure: EndpointFailure,
  { provider }: EndpointTarget,
  count: number,
): AppError {
  return new AppError('provider_error', {
    detail: `providers refused ${count} own keys of the workspace, and a call asks with no more${REMEDY}`,
    metadata: { provider_name: provider.name, is_byok: true },
    cause: failure,
  });
}

/** The caller's error for the last failure. */
export function toCallerError(failure: EndpointFailure, { provider, credential }: EndpointTarget): AppError {
  // The text about a credential may hold a part of it.
  const raw = failure.kind === 'credential' ? null : failure.message.slice(0, MAX_RAW_LENGTH);
  const isOwnKey = failure.kind === 'credential' && credential !== null;
  const detail = isOwnKey ? `${provider.name} refused the workspace's own key${REMEDY}` : failure.message;
  const { unsupported } = failure;
  const problem = unsupported && { ...errorPosition(unsupported.at), detail: unsupported.rule };
  return new AppError(CODES[failure.kind], {
    ...(failure.isOwnRejection || isOwnKey ? (problem ?? { detail }) : {}),
    metadata: {
      provider_name: provider.name,
      ...(credential === null ? {} : { is_byok: true }),
      ...(raw === null || failure.isOwnRejection ? {} : { raw }),
      ...(failure.providerCode === null ? {} : { provider_code: failure.providerCode.slice(0, 100) }),
    },
    headers: failure.retryAfter === null ? {} : { 'Retry-After': String(Math.ceil(failure.retryAfter)) },
    cause: failure,
  });
}

function errorPosition(
  at: UnsupportedMember['at'],
): Pick<AppErrorOptions, 'member' | 'inputIndex' | 'inputPath'> {
  return typeof at === 'string' ? { member: at } : { inputIndex: at.index, inputPath: at.path };
}
