// One exchange with an upstream as data: all operations share it.

export interface ProviderConnection {
  /** Without a trailing slash. */
  readonly baseUrl: string;
  /**
   * `<PROVIDER>_API_KEY`, or the key of a customer. A provider that needs several parts defines how they are joined.
   */
  readonly apiKey?: string;
  /** Of providers whose keys are exchanged for tokens. */
  readonly accessToken?: string;
}

export interface UpstreamRequest {
  readonly method: 'POST';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface UpstreamResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

/** An error of an upstream as data. Routing decides what follows from it (routing/failures). */
export interface ProviderError {
  /** The upstream's own words, to be cut before a caller sees them. */
  readonly message: string;
  /** The upstream's own code, and its own kind of error. */
  readonly code: string | null;
  readonly type: string | null;
  /** The HTTP status that the body states: the only one of an error inside a success. */
  readonly status: number | null;
  /** The member that the upstream says it does not know or support; absent: it names none. */
  readonly unsupportedMember?: string;
  /** Seconds; only if the upstream reports the delay elsewhere than in the header `retry-after`. */
  readonly retryAfter?: number;
}
