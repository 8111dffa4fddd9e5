// One column of the table of wires, and a gateway whose clients are the vendors' own.
import type { WireProviderName, WireStubs } from '../../../test/support/wires/wire-stubs.js';
import type { Problem } from '../assert-answer.js';
import type { Answer } from '../gateway.js';
import type { Column } from '../run-checks.js';
import type { ClientCall, ClientRead, ClientWire } from './clients.js';

export interface WireTarget {
  /** Without the version: each client appends its own path. */
  readonly origin: string;
  /** Between the origin and the paths of OpenAI's client. */
  readonly version: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly model: string;
}

export interface WireGateway {
  readonly name: string;
  /** The heads of checks about features that it does not offer. */
  readonly notOffered: ReadonlySet<string>;
  readonly remarks: readonly string[];
  /** Throws NotOffered when it cannot be led there. */
  targetOf(provider: WireProviderName, client: ClientWire): WireTarget;
  /** Whether the answer says that the gateway has no such pair. */
  isNotOffered(read: Pick<ClientRead, 'text'>): boolean;
}

export interface Pair {
  readonly label: string;
  readonly client: ClientWire;
  readonly provider: WireProviderName;
}

export interface WireTrial extends Pair {
  readonly stubs: WireStubs;
  readonly ask: (call?: ClientCall) => Promise<ClientRead>;
  /** Reads until a text has come, and closes the connection. */
  readonly leaveAfter: (text: string) => Promise<void>;
  readonly countTokens: () => Promise<Answer>;
}

export interface WireCheck extends Column {
  readonly applies?: (pair: Pair) => boolean;
  run(trial: WireTrial): Promise<Problem>;
}
