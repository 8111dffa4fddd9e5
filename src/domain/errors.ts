// The errors of the API: a closed list of codes, each with its status and first words (docs/contract.md#errors).
import type { ModelWire } from './chat/model-wire.js';
import type { RoutingMetadata } from './providers/routing-metadata.js';
import type { LimitShortfall } from './spend/spend-limit.js';

interface ErrorDefinition {
  readonly status: number;
  readonly message: string;
  /** The stable `metadata.error_type` of the contract. */
  readonly errorType: string;
}

export const ERROR_DEFINITIONS = {
  invalid_request: { status: 400, message: 'Invalid request parameters', errorType: 'invalid_request' },
  context_length_exceeded: {
    status: 400,
    message: 'Invalid request parameters',
    errorType: 'context_length_exceeded',
  },
  missing_credential: { status: 401, message: 'Missing Authentication header', errorType: 'authentication' },
  invalid_credential: { status: 401, message: 'Invalid credentials', errorType: 'authentication' },
  management_key_needed: {
    status: 401,
    message: 'Only management keys can perform this operation',
    errorType: 'authentication',
  },
  management_key_refused: {
    status: 401,
    message: 'Management keys cannot be used for inference',
    errorType: 'authentication',
  },
  insufficient_credits: { status: 402, message: 'Insufficient credits', errorType: 'payment_required' },
  key_limit_exceeded: { status: 402, message: 'API key limit exceeded', errorType: 'payment_required' },
  forbidden: {
    status: 403,
    message: 'Only management keys can perform this operation',
    errorType: 'permission_denied',
  },
  operator_account_needed: {
    status: 403,
    message: 'Only keys of an operator account can change the catalogue',
    errorType: 'permission_denied',
  },
  role_refused: {
    status: 403,
    message: 'Your role does not allow this operation',
    errorType: 'permission_denied',
  },
  own_key_refused: {
    status: 403,
    message: 'The own-key policy of the workspace does not allow this',
    errorType: 'permission_denied',
  },
  cross_site: {
    status: 403,
    message: 'Requests of other sites are not accepted',
    errorType: 'permission_denied',
  },
  code_refused: { status: 403, message: 'Code not accepted', errorType: 'permission_denied' },
  budget_exceeded: { status: 403, message: 'Workspace budget exceeded', errorType: 'permission_denied' },
  guardrail_budget_exceeded: {
    status: 403,
    message: 'Guardrail budget exceeded',
    errorType: 'permission_denied',
  },
  guardrail_blocked: {
    status: 403,
    message: 'Request blocked by a guardrail',
    errorType: 'content_policy_violation',
  },
  guardrail_region: {
    status: 403,
    message: 'Data region not allowed',
    errorType: 'permission_denied',
  },
  not_found: { status: 404, message: 'Resource not found', errorType: 'not_found' },
  no_allowed_providers: {
    status: 404,
    message: 'No allowed providers are available for the selected model.',
    errorType: 'not_found',
  },
  guardrail_excluded: {
    status: 404,
    message: 'No allowed providers are available for the selected model.',
    errorType: 'not_found',
  },
  method_not_allowed: { status: 405, message: 'Method not allowed', errorType: 'invalid_request' },
  operation_timeout: {
    status: 408,
    message: 'Operation timed out. Please try again later.',
    errorType: 'timeout',
  },
  conflict: {
    status: 409,
    message: 'Resource conflict. Please try again later.',
    errorType: 'invalid_request',
  },
  limit_reached: { status: 409, message: 'Limit reached', errorType: 'invalid_request' },
  payload_too_large: {
    status: 413,
    message: 'Request payload too large',
    errorType: 'payload_too_large',
  },
  rate_limit_exceeded: { status: 429, message: 'Rate limit exceeded', errorType: 'rate_limit_exceeded' },
  /** Errors of a provider; its words follow. */
  provider_refused: { status: 400, message: 'Provider returned error', errorType: 'invalid_request' },
  provider_context_length: {
    status: 400,
    message: 'Provider returned error',
    errorType: 'context_length_exceeded',
  },
  provider_too_large: { status: 413, message: 'Provider returned error', errorType: 'payload_too_large' },
  provider_rate_limited: {
    status: 429,
    message: 'Provider returned error',
    errorType: 'rate_limit_exceeded',
  },
  /** The account behind an own provider key, not the account of this service. */
  own_account_exhausted: { status: 402, message: 'Insufficient credits', errorType: 'payment_required' },
  internal: { status: 500, message: 'Internal Server Error', errorType: 'server' },
  provider_error: { status: 502, message: 'Provider returned error', errorType: 'provider_unavailable' },
  unavailable: {
    status: 503,
    message: 'Service temporarily unavailable',
    errorType: 'provider_unavailable',
  },
  /** Load shedding of this service; single rejections are not logged. */
  overloaded: {
    status: 503,
    message: 'Service temporarily unavailable',
    errorType: 'provider_unavailable',
  },
  provider_timeout: {
    status: 524,
    message: 'Request timed out. Please try again later.',
    errorType: 'timeout',
  },
  provider_overloaded: { status: 529, message: 'Provider returned error', errorType: 'provider_overloaded' },
} as const satisfies Record<string, ErrorDefinition>;

export type ErrorCode = keyof typeof ERROR_DEFINITIONS;

/** An input by its index, and the part of it as a path: `.content[1]`. */
export interface InputPosition {
  readonly index: number;
  readonly path: string;
}

/** A member of a body as callers name it. */
export function memberName(at: string | InputPosition): string {
  return typeof at === 'string' ? at : `input[${at.index}]${at.path}`;
}

/** The payer of a failed call's served parts. */
export type Payer = 'caller' | 'operator';

/** Statuses of failures that are the caller's own (docs/contract.md#spend). */
const CALLERS_OWN: ReadonlySet<number> = new Set([400, 402, 403, 404, 413]);

/** A provider's error in its wire: without a secret, for clients of the same wire. */
export interface NativeError {
  readonly wire: ModelWire;
  readonly status: number;
  readonly body: Buffer;
}

export interface AppErrorOptions {
  /** Follows the standard text after ": ". Reaches the caller: never a secret. */
  readonly detail?: string;
  /** The detail repeats a provider's words, which may repeat the caller's: the log does without it. */
  readonly isQuoted?: boolean;
  /** The member of the body at fault. Its name precedes the detail. */
  readonly member?: string;
  /** The index of the input at fault, instead of a member. */
  readonly inputIndex?: number | null;
  /** The part of that input that is at fault, as a path: `.content[1]`. */
  readonly inputPath?: string;
  /** A more precise `error_type` than that of the code. */
  readonly errorType?: string | undefined;
  /** Members of `error.metadata` beside `error_type`. */
  readonly metadata?: Readonly<Record<string, unknown>>;
  /** Response headers, `Retry-After` for example. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The generation that records the failed call. */
  readonly generationId?: string | null;
  /** The routing metadata, for a caller who requested it. */
  readonly routingMetadata?: RoutingMetadata | null;
  /** The provider's own words, byte for byte. */
  readonly native?: NativeError | null;
  /** Absent: by the status. */
  readonly payer?: Payer;
  /** The limit that refused the call. */
  readonly shortfall?: LimitShortfall;
  /** For the log only. */
  readonly cause?: unknown;
}

export class AppError extends Error {
  readonly status: number;
  readonly errorType: string;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly inputIndex: number | null;
  readonly generationId: string | null;
  readonly routingMetadata: RoutingMetadata | null;

  constructor(
    readonly code: ErrorCode,
    private readonly options: AppErrorOptions = {},
  ) {
    const definition: ErrorDefinition = ERROR_DEFINITIONS[code];
    super(textOf(definition, options), { cause: options.cause });
    this.name = 'AppError';
    this.status = definition.status;
    this.errorType = options.errorType ?? definition.errorType;
    this.metadata = options.metadata ?? {};
    this.headers = options.headers ?? {};
    this.inputIndex = options.inputIndex ?? null;
    this.generationId = options.generationId ?? null;
    this.routingMetadata = options.routingMetadata ?? null;
    // Every member and the text are made of them: they are no part of what is logged or compared.
    Object.defineProperty(this, 'options', { enumerable: false });
  }

  /** The limit that refused the call; null: none did. */
  get shortfall(): LimitShortfall | null {
    return this.options.shortfall ?? null;
  }

  /** Pays the parts that were served before the call failed. */
  get payer(): Payer {
    return this.options.payer ?? (CALLERS_OWN.has(this.status) ? 'caller' : 'operator');
  }

  /** The member of the body at fault; null: none is named. */
  get member(): string | null {
    return this.options.member ?? null;
  }

  get native(): NativeError | null {
    return this.options.native ?? null;
  }

  /** The text without its first words, which the status and `errorType` say as well. */
  get explanation(): string {
    const first = `${ERROR_DEFINITIONS[this.code].message}: `;
    return this.message.startsWith(first) ? this.message.slice(first.length) : this.message;
  }

  /** The text for the log. */
  get logMessage(): string {
    return this.options.isQuoted === true ? ERROR_DEFINITIONS[this.code].message : this.message;
  }

  /** A copy that names another input. */
  atInput(inputIndex: number): AppError {
    return this.copy({ inputIndex });
  }

  /** A copy for one call: several calls may share an error, and each has its own generation and routing. */
  ofCall(call: Pick<AppErrorOptions, 'generationId' | 'routingMetadata'>): AppError {
    return this.copy(call);
  }

  /** A copy with further response headers. */
  withHeaders(headers: Readonly<Record<string, string>>): AppError {
    return this.copy({ headers: { ...this.headers, ...headers } });
  }

  /** A copy with further members of `error.metadata`. */
  withMetadata(metadata: Readonly<Record<string, unknown>>): AppError {
    return this.copy({ metadata: { ...this.metadata, ...metadata } });
  }

  /** A copy of the refusal of a chat without a token limit: the longest answer that the limit allows. */
  withAffordableTokens(affordableTokens: number): AppError {
    return this.shortfall === null ? this : this.copy({ shortfall: { ...this.shortfall, affordableTokens } });
  }

  private copy(changes: AppErrorOptions): AppError {
    const copy = new AppError(this.code, { ...this.options, ...changes });
    if (this.stack !== undefined) copy.stack = this.stack;
    return copy;
  }
}

/** Throws `invalid_request` with the member of the body at fault. */
export function rejectMember(member: string, detail: string): never {
  throw new AppError('invalid_request', { member, detail });
}

/** A failure that is no AppError becomes `internal`, with the failure as its cause. */
export function toAppError(failure: unknown): AppError {
  return failure instanceof AppError ? failure : new AppError('internal', { cause: failure });
}

/** The only place where the data of an error become its text. */
function textOf({ message }: ErrorDefinition, options: AppErrorOptions): string {
  const { member, inputIndex: index, inputPath: path = '', detail } = options;
  const name = typeof index === 'number' ? memberName({ index, path }) : member;
  return [message, name, detail].filter((part) => part).join(': ');
}
