// A plain sender for tests: it takes the requests of a kind to a running receiver as they are, one after the other,
// and has the kind read the answers. Nothing is retried or split.
import { request as httpRequest } from 'node:http';
import { secretFieldsOf } from '../../../src/destination-kinds/shared/config-fields.js';
import { parseConfig } from '../../../src/destination-kinds/shared/destination-kind.js';
import type {
  BaseDestinationConfig,
  DestinationKind,
} from '../../../src/destination-kinds/shared/destination-kind.js';
import type {
  DeliveryContext,
  DeliveryOutcome,
  DeliveryRequest,
  DeliveryResponse,
} from '../../../src/destination-kinds/shared/delivery.js';
import { requireDestinationKind } from '../../../src/destination-kinds/index.js';
import type { DestinationConfig } from '../../../src/domain/destinations/destination.js';
import type { GenerationTrace } from '../../../src/domain/generations/generation-trace.js';
import type { DestinationReceiver, RunningReceiver } from './receiver.js';

const MAX_CONTINUATIONS = 10;

export const CONTEXT: DeliveryContext = {
  destinationId: '0193a1b2-0000-7000-8000-0000000000de',
  now: new Date('2026-11-21T10:00:30.000Z'),
};

/** A kind with the config that its requests are made from. */
export interface Delivering {
  readonly kind: DestinationKind;
  readonly config: BaseDestinationConfig;
}

export function deliveringTo(
  receiver: Pick<DestinationReceiver, 'type' | 'config'>,
  config: DestinationConfig = receiver.config,
): Delivering {
  const kind = requireDestinationKind(receiver.type);
  return { kind, config: parseConfig(kind, config) };
}

/** The secrets of a config: its secret values, and the credentials within addresses. */
export function secretsOf({ type, config }: Pick<DestinationReceiver, 'type' | 'config'>): readonly string[] {
  return secretFieldsGiven({ type, config }).flatMap((field) => {
    const secret = String(config[field]);
    if (!URL.canParse(secret)) return [secret];
    const { username, password } = new URL(secret);
    return [secret, username, password].filter((text) => text !== '');
  });
}

/** The secret fields that this config has a value for. */
export function secretFieldsGiven({
  type,
  config,
}: Pick<DestinationReceiver, 'type' | 'config'>): readonly string[] {
  return [...secretFieldsOf(requireDestinationKind(type).configClass).keys()].filter(
    (field) => config[field] !== undefined,
  );
}

export async function encode(
  { kind, config }: Delivering,
  traces: readonly GenerationTrace[],
  context = CONTEXT,
): Promise<readonly DeliveryRequest[]> {
  return kind.delivery.encode(config, traces, context);
}

/** Sends a request to the receiver instead of the host that it names, with that host in a header. */
export async function send(request: DeliveryRequest, running: RunningReceiver): Promise<DeliveryResponse> {
  const { host, pathname, search } = new URL(request.url);
  const headers = { host, ...request.headers };
  return new Promise((resolve, reject) => {
    const outgoing = httpRequest(
      running.origin + pathname + search,
      { method: request.method, headers, agent: false },
      (incoming) => {
        const chunks: Buffer[] = [];
        incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
        incoming.once('error', reject);
        incoming.once('end', () =>
          resolve({
            status: incoming.statusCode ?? 0,
            headers: incoming.headers,
            body: Buffer.concat(chunks),
          }),
        );
      },
    );
    outgoing.once('error', reject);
    outgoing.end(request.body);
  });
}

/** Sends one request and reads what became of it, asking on for as long as the kind wants to know more. */
export async function exchange(
  { kind, config }: Delivering,
  request: DeliveryRequest,
  running: RunningReceiver,
): Promise<DeliveryOutcome> {
  let asked = request;
  for (let round = 0; round <= MAX_CONTINUATIONS; round++) {
    const response = await send(asked, running);
    const outcome = await kind.delivery.read(response, asked, config, CONTEXT);
    if (outcome.outcome !== 'continue') return outcome;
    asked = outcome.request;
  }
  throw new Error(`${kind.type} asked on and on`);
}

/** Encodes and sends all; the outcomes in the order of the requests. */
export async function deliver(
  delivering: Delivering,
  traces: readonly GenerationTrace[],
  running: RunningReceiver,
): Promise<DeliveryOutcome[]> {
  const outcomes: DeliveryOutcome[] = [];
  for (const request of await encode(delivering, traces)) {
    outcomes.push(await exchange(delivering, request, running));
  }
  return outcomes;
}

/** Runs the connection test up to the first problem; null: all of it passed. */
export async function probe({ kind, config }: Delivering, running: RunningReceiver): Promise<string | null> {
  for (const step of await kind.delivery.probe(config, CONTEXT)) {
    const problem = step.problem(await send(step.request, running));
    if (problem !== null) return problem;
  }
  return null;
}
