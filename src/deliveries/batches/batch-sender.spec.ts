// Which traces of a batch are sent again, and when sending stops.
import { describe, expect, it } from '@jest/globals';
import { parseConfig } from '../../destination-kinds/shared/destination-kind.js';
import { requireDestinationKind } from '../../destination-kinds/index.js';
import type { DeliveryRequest } from '../../destination-kinds/shared/delivery.js';
import { compileSelection } from '../../domain/destinations/destination-selection.js';
import type { Destination } from '../../domain/destinations/destination.js';
import { TOOLS_CHAT } from '../../../test/support/deliveries/chat-traces.js';
import { generationTrace } from '../../../test/support/deliveries/generation-trace.js';
import { BatchSender } from './batch-sender.js';
import type {
  WorkspaceDestinations,
  WorkspaceDestinationsCache,
  DeliveryTarget,
} from '../workspace-destinations.js';
import type { PlatformClient, FinalOutcome } from './platform-client.js';
import { PayloadSizer } from './payload-sizer.js';
import { YieldQueue } from '../../concurrency/yield-queue.js';

const FAILED: FinalOutcome = { outcome: 'retry', reason: 'down', status: 503 };
const ACCEPTED: FinalOutcome = { outcome: 'delivered', status: 200 };
const TOO_LARGE: FinalOutcome = { outcome: 'too_large', reason: 'no', status: 413 };
const never = new AbortController().signal;
const traces = [1, 2, 3, 4].map((number) => generationTrace(number));

function targetOf(type: string, version = 1): DeliveryTarget {
  const kind = requireDestinationKind(type);
  const destination: Destination = {
    id: 'a0000000-0000-4000-8000-000000000000',
    accountId: 'account',
    workspaceId: 'workspace',
    kind: type,
    type,
    name: 'Under test',
    enabled: true,
    privacyMode: false,
    broadcastCost: false,
    broadcastIdentity: false,
    broadcastRequestContext: false,
    samplingRate: 1,
    apiKeyHashes: null,
    filterRules: null,
    regions: ['global'],
    config: kind.example,
    version,
    createdAt: new Date(0),
    updatedAt: new Date(0),
  };
  const selection = compileSelection(destination);
  return {
    destination,
    kind,
    config: parseConfig(kind, kind.example),
    selection,
    wanted: selection,
    filtersByContent: false,
    sharesLog: false,
    sharesContents: false,
  };
}

/** A sender to a platform that returns the scripted answers, and then accepts requests of at most `maxBytes`. */
function senderTo(
  current: () => DeliveryTarget | undefined,
  answers: FinalOutcome[],
  { maxBytes = Infinity } = {},
) {
  const sent: string[] = [];
  const bodies: string[] = [];
  const destinations = {
    find: async (): Promise<WorkspaceDestinations> => {
      const target = current();
      const targets = new Map(target ? [[target.destination.id, target]] : []);
      return { targets, problems: new Map(), needsContent: true, isPrivate: false };
    },
  } as unknown as WorkspaceDestinationsCache;
  const exchange = {
    deliver: (_target: DeliveryTarget, { url, body = '' }: DeliveryRequest): Promise<FinalOutcome> => {
      const { traces: ofTraces, spans } = JSON.parse(body.toString()) as Record<
        string,
        unknown[] | undefined
      >;
      sent.push(`${new URL(url).pathname.split('/').at(-2)} ${(ofTraces ?? spans ?? [null]).length}`);
      bodies.push(body.toString());
      const isTooLarge = Buffer.byteLength(body) > maxBytes;
      return Promise.resolve(answers.shift() ?? (isTooLarge ? TOO_LARGE : ACCEPTED));
    },
  } as unknown as PlatformClient;
  const tracing = { span: (_name: string, _options: object, work: () => unknown) => work() };
  const sender = new BatchSender(
    destinations,
    exchange,
    { now: () => new Date() },
    tracing as unknown as ConstructorParameters<typeof BatchSender>[3],
    new YieldQueue(),
    new PayloadSizer(),
  );
  return { sender, sent, bodies };
}

describe('a platform with two requests a batch', () => {
  const opik = targetOf('opik');

  it('gets the first one once, when the second one fails', async () => {
    const { sender, sent } = senderTo(() => opik, [ACCEPTED, FAILED, FAILED]);
    expect((await sender.send(opik, traces, never)).failure?.status).toBe(503);
    expect((await sender.send(opik, traces, never)).failure?.status).toBe(503);
    expect((await sender.send(opik, traces, never)).settled).toHaveLength(4);
    expect(sent).toEqual(['traces 4', 'spans 4', 'spans 4', 'spans 4']);
  });

  it('gets both for traces that were added since, and for another batch', async () => {
    const { sender, sent } = senderTo(() => opik, [ACCEPTED, FAILED]);
    await sender.send(opik, traces.slice(0, 2), never);
    expect((await sender.send(opik, traces, never)).settled).toHaveLength(4);
    expect((await sender.send(opik, traces, never)).settled).toHaveLength(4);
    expect(sent).toEqual(['traces 2', 'spans 2', 'spans 2', 'traces 2', 'spans 2', 'traces 4', 'spans 4']);
  });

  it('gets the second one in parts when it is too large', async () => {
    const { sender, sent } = senderTo(() => opik, [ACCEPTED, TOO_LARGE]);
    expect((await sender.send(opik, traces, never)).settled).toHaveLength(4);
    expect(sent).toEqual(['traces 4', 'spans 4', 'spans 1', 'spans 1', 'spans 1', 'spans 1']);
  });

  it('gets both again when its config has changed', async () => {
    let current = opik;
    const { sender, sent } = senderTo(() => current, [ACCEPTED, FAILED]);
    await sender.send(opik, traces, never);
    current = targetOf('opik', 2);
    await sender.send(current, traces, never);
    expect(sent).toEqual(['traces 4', 'spans 4', 'traces 4', 'spans 4']);
  });
});

describe('a destination that changes while a batch is sent', () => {
  it.each<[string, DeliveryTarget | undefined]>([
    ['deleted or switched off', undefined],
    ['set up otherwise', targetOf('weave', 2)],
  ])('gets no further request when it is %s', async (_what, after) => {
    const weave = targetOf('weave');
    let current: DeliveryTarget | undefined = weave;
    const { sender, sent } = senderTo(() => {
      // The first request is too large, and the batch is sent in parts.
      if (sent.length === 2) current = after;
      return current;
    }, [TOO_LARGE]);
    const result = await sender.send(weave, traces, never);
    expect(result).toEqual({ settled: [{ outcome: 'delivered' }], rejected: 0, failure: null });
    expect(await sender.send(weave, traces.slice(1), never)).toMatchObject({ settled: [] });
    expect(sent).toHaveLength(2);
  });

  it('gets not even the first one when it has changed since the batch was built', async () => {
    const { sender, sent } = senderTo(() => targetOf('weave', 2), []);
    const result = await sender.send(targetOf('weave'), traces, never);
    expect([result.settled, sent]).toEqual([[], []]);
  });
});

describe('a chat that is larger than the platform accepts', () => {
  const parts = Array.from({ length: 6 }, (_, index) => `Part ${index}. ${'x'.repeat(100_000)}`);
  const messages = parts.map((content) => ({ role: 'user', content }));
  const [ordinary] = traces;
  const chat = TOOLS_CHAT.chat!;
  const large = { ...ordinary!, ...TOOLS_CHAT, chat: { ...chat, content: { ...chat.content!, messages } } };

  it.each(['weave', 'braintrust', 'webhook', 'langfuse'])(
    'is delivered to %s with the beginning of its texts, after a few smaller requests',
    async (type) => {
      const target = targetOf(type);
      const { sender, bodies } = senderTo(() => target, [], { maxBytes: 100_000 });
      const { settled } = await sender.send(target, [large], never);
      expect(settled).toEqual([{ outcome: 'delivered' }]);
      const sizes = bodies.map((body) => body.length);
      expect(sizes.every((size, index) => index === 0 || size <= sizes[index - 1]! / 2)).toBe(true);
      expect(sizes.at(-1)).toBeGreaterThan(10_000);
      expect(bodies.at(-1)).toContain('Part 0.');
    },
  );

  it('is delivered without its content to a platform that accepts no more', async () => {
    const target = targetOf('weave');
    const { sender, bodies } = senderTo(() => target, [], { maxBytes: 5_000 });
    const { settled } = await sender.send(target, [large], never);
    expect(settled).toEqual([{ outcome: 'delivered' }]);
    expect(bodies.at(-1)).not.toContain('Part 0.');
  });

  it('is given up when even that is too large', async () => {
    const target = targetOf('weave');
    const { sender, bodies } = senderTo(() => target, [], { maxBytes: 10 });
    const { settled } = await sender.send(target, [large], never);
    expect(settled).toEqual([{ outcome: 'too_large', message: 'no' }]);
    expect(bodies.length).toBeLessThan(12);
  });
});

describe('a platform that accepts a request and drops traces', () => {
  const dropping = (rejected: number): FinalOutcome => ({ ...ACCEPTED, rejected, reason: 'wrong project' });

  it('has rejected them all when it drops all, and they are not sent again', async () => {
    const target = targetOf('langfuse');
    const { sender, bodies } = senderTo(() => target, [dropping(4)]);
    const { settled, rejected } = await sender.send(target, traces, never);
    expect(settled).toEqual(traces.map(() => ({ outcome: 'refused', message: 'wrong project' })));
    expect([rejected, bodies.length]).toEqual([0, 1]);
  });

  it('has delivered the others when it drops some, and its reason is kept', async () => {
    const target = targetOf('langfuse');
    const { sender } = senderTo(() => target, [dropping(3)]);
    const result = await sender.send(target, traces, never);
    expect(result).toMatchObject({ rejected: 3, rejection: 'wrong project', failure: null });
    expect(result.settled).toEqual(traces.map(() => ({ outcome: 'delivered' })));
  });
});
