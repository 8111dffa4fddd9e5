// Requests of every destination kind, against a receiver with the platform's rules. A kind is tested because its
// receiver is in the list.
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { fieldProblem, fieldsOf } from '../../src/destination-kinds/shared/config-fields.js';
import * as fc from '../support/fast-check.js';
import type { DeliveryRequest } from '../../src/destination-kinds/shared/delivery.js';
import type { BaseDestinationConfig } from '../../src/destination-kinds/shared/destination-kind.js';
import { DESTINATION_KINDS } from '../../src/destination-kinds/index.js';
import type { GenerationTrace } from '../../src/domain/generations/generation-trace.js';
import { generationTrace } from '../support/deliveries/generation-trace.js';
import { shared } from '../support/extent.js';
import {
  CONTEXT,
  deliver,
  deliveringTo,
  encode,
  probe,
  secretFieldsGiven,
  secretsOf,
  send,
} from '../support/receivers/deliver.js';
import { DESTINATION_RECEIVERS } from '../support/receivers/index.js';
import { startReceiver } from '../support/receivers/receiver.js';
import type { RunningReceiver } from '../support/receivers/receiver.js';
import { ALL_FACTS, TRACE_CASES } from '../support/deliveries/trace-cases.js';

/** The kinds whose credential travels in the body. */
const SECRET_IN_BODY = new Set(['posthog']);

const numbered = (count: number): GenerationTrace[] =>
  Array.from({ length: count }, (_, index) => generationTrace(index + 1));
const idsOf = (traces: readonly GenerationTrace[]): string[] =>
  traces.map(({ generationId }) => generationId);
const textOf = ({ url, headers, body }: DeliveryRequest): string =>
  [url, JSON.stringify(headers), body?.toString() ?? ''].join('\n');

/** Texts that occur nowhere else, one for each member; those of the first three stay in privacy mode. */
const canary = (member: string): fc.Arbitrary<string> =>
  fc.stringMatching(/^[A-Za-z0-9]{16}$/).map((text) => member + text);
const CANARIES = fc.record({
  userId: canary('user'),
  sessionId: canary('session'),
  apiKeyName: canary('name'),
  spanName: canary('span'),
  traceName: canary('trace'),
  callerTraceId: canary('caller'),
  key: canary('key'),
  value: canary('value'),
  fact: canary('fact'),
  input: canary('input'),
  message: canary('message'),
});

it('has a receiver for every kind, in the order of the kinds', () => {
  expect(DESTINATION_RECEIVERS.map(({ type }) => type)).toEqual(DESTINATION_KINDS.map(({ type }) => type));
});

describe.each(DESTINATION_RECEIVERS.map((receiver, number) => ({ type: receiver.type, receiver, number })))(
  '$type',
  ({ receiver, number }) => {
    const delivering = deliveringTo(receiver);
    const { kind, config } = delivering;
    const { limits } = kind.delivery;
    const secretFields = secretFieldsGiven(receiver);
    let running: RunningReceiver;

    beforeAll(async () => {
      running = await startReceiver(receiver);
    });
    afterEach(() => running.forget());
    afterAll(() => running.close());

    /** The receiver's complaint about one invalid request. */
    const statusOf = async (request: DeliveryRequest): Promise<number> =>
      (await send(request, running)).status;
    const expectStored = async (traces: readonly GenerationTrace[]): Promise<void> => {
      for (const outcome of await deliver(delivering, traces, running)) {
        expect(outcome).toEqual({ outcome: 'delivered' });
      }
      expect(running.stored).toEqual(idsOf(traces));
    };

    describe('its requests', () => {
      it.each(shared(Object.entries(TRACE_CASES), number))('are accepted: %s', async (_name, overrides) => {
        const [request, ...others] = await encode(delivering, [generationTrace(1, overrides)]);
        for (const { body } of [request!, ...others]) {
          expect(Buffer.byteLength(body ?? '')).toBeLessThanOrEqual(limits.maxBytes);
        }
        await expectStored([generationTrace(1, overrides)]);
      });

      it('are stored exactly once and in order, for one trace up to the maximum', async () => {
        for (const count of [1, 2, limits.maxTraces]) {
          await expectStored(numbered(Math.min(count, limits.maxTraces)));
          running.forget();
        }
      });

      it('are the same later, except dates and signatures in headers', async () => {
        const traces = numbered(Math.min(2, limits.maxTraces));
        const later = { ...CONTEXT, now: new Date(CONTEXT.now.getTime() + 3_600_000) };
        const first = await encode(delivering, traces);
        const second = await encode(delivering, traces, later);
        const lasting = ({ method, url, headers, body }: DeliveryRequest): unknown => ({
          method,
          url,
          headers: Object.keys(headers),
          body: body?.toString(),
        });
        expect(second.map(lasting)).toEqual(first.map(lasting));
      });

      it('use only the addresses that the kind declares', async () => {
        const addresses = kind.delivery.addresses(config).map((address) => new URL(address).origin);
        const probes = await kind.delivery.probe(config, CONTEXT);
        const requests = [
          ...(await encode(delivering, numbered(1))),
          ...probes.map(({ request }) => request),
        ];
        for (const { url } of requests) {
          expect(new URL(url).origin).toBe(receiver.expectedOrigin);
          expect(addresses).toContain(receiver.expectedOrigin);
          expect(new URL(url).hash).toBe('');
        }
      });

      it('use another address when the config names one', async () => {
        const moved = receiver.configFor('http://127.0.0.1:4318');
        const requests = await encode(deliveringTo(receiver, moved ?? receiver.config), numbered(1));
        const origin = moved === null ? receiver.expectedOrigin : 'http://127.0.0.1:4318';
        expect(requests.map(({ url }) => new URL(url).origin)).toEqual(requests.map(() => origin));
      });

      it('have headers in lower case, without those that the config adds', async () => {
        const adding = deliveringTo(receiver, {
          ...receiver.config,
          headers: { 'X-Added': 'added-by-config' },
        });
        for (const request of await encode(adding, numbered(1))) {
          const names = Object.keys(request.headers);
          expect(names).toEqual(names.map((name) => name.toLowerCase()));
          expect(names).not.toEqual(expect.arrayContaining(['content-length']));
          expect(textOf(request).toLowerCase()).not.toContain('added');
        }
      });

      it('have only declared headers, and reject custom ones of these names', async () => {
        const probes = await kind.delivery.probe(config, CONTEXT);
        const requests = [
          ...(await encode(delivering, numbered(1))),
          ...probes.map(({ request }) => request),
        ];
        const { ownHeaders } = kind.configClass as unknown as typeof BaseDestinationConfig;
        // The signature covers it, and the connection sets it.
        const names = requests
          .flatMap(({ headers }) => Object.keys(headers))
          .filter((name) => name !== 'host');
        expect(ownHeaders).toEqual(expect.arrayContaining(names));
        for (const name of ownHeaders) {
          const spelling = name.toUpperCase();
          const custom = Object.assign(new kind.configClass(), { headers: { [spelling]: 'x' } });
          const [headers] = fieldsOf(kind.configClass);
          expect(fieldProblem(headers!, custom, 'request')).toBe(
            `must not set ${spelling}: requests to this platform set it themselves`,
          );
        }
      });

      it('carry the facts of the trace', async () => {
        const trace = generationTrace(1, {
          metadata: { colour: 'canary-metadata' },
          facts: { ...ALL_FACTS, external_user: 'canary-fact' },
          traceName: 'canary-trace-name',
          userId: 'canary-user',
          sessionId: 'canary-session',
          apiKeyName: 'canary-key-name',
          input: { items: ['canary-input'], isTruncated: false },
        });
        const sent = (await encode(delivering, [trace])).map(textOf).join('\n');
        for (const member of ['metadata', 'fact', 'trace-name', 'user', 'session', 'key-name', 'input']) {
          expect(sent).toContain(`canary-${member}`);
        }
        expect(sent).toContain(trace.model);
      });

      it('carry the failure of a call', async () => {
        const error = { type: 'canary_type', message: 'canary message' };
        const sent = (await encode(delivering, [generationTrace(1, { status: 502, error })]))
          .map(textOf)
          .join('');
        expect(sent).toContain('canary_type');
        expect(sent).toContain('canary message');
      });

      it('carry nothing that was removed from the trace, even after it was sent whole', async () => {
        await fc.assert(
          fc.asyncProperty(CANARIES, fc.boolean(), async (canaries, isFailure) => {
            const { userId, sessionId, apiKeyName, ...removed } = canaries;
            const kept = { userId, sessionId, apiKeyName };
            const error = { type: 'provider_error', message: null };
            const redacted = generationTrace(1, {
              ...kept,
              metadata: {},
              input: null,
              ...(isFailure ? { status: 502, error } : {}),
            });
            const whole: GenerationTrace = {
              ...redacted,
              spanName: removed.spanName,
              traceName: removed.traceName,
              callerTraceId: removed.callerTraceId,
              metadata: { [removed.key]: removed.value },
              facts: { external_user: removed.fact },
              input: { items: [removed.input], isTruncated: false },
              ...(isFailure ? { error: { ...error, message: removed.message } } : {}),
            };
            const before = (await encode(delivering, [whole])).map(textOf).join('\n');
            for (const member of ['key', 'value', 'fact', 'input'] as const) {
              expect(before).toContain(removed[member]);
            }
            const after = (await encode(delivering, [redacted])).map(textOf).join('\n');
            for (const text of Object.values(removed)) expect(after).not.toContain(text);
            for (const text of Object.values(kept)) expect(after).toContain(text);
          }),
          { numRuns: 25 },
        );
      });

      it('show credentials to the platform only: in no address, and in a body only where the platform requires it', async () => {
        const probes = await kind.delivery.probe(config, CONTEXT);
        const requests = [
          ...(await encode(delivering, numbered(1))),
          ...probes.map(({ request }) => request),
        ];
        for (const secret of secretsOf(receiver)) {
          expect(secret.length).toBeGreaterThanOrEqual(12);
          for (const { url, body } of requests) {
            expect(decodeURIComponent(url)).not.toContain(secret);
            if (!SECRET_IN_BODY.has(kind.type)) expect(body?.toString() ?? '').not.toContain(secret);
          }
        }
      });
    });

    describe('its receiver', () => {
      it('rejects a wrong path, a wrong method and a malformed body', async () => {
        for (const request of await encode(delivering, numbered(1))) {
          const elsewhere = new URL(request.url);
          elsewhere.pathname = `/wrong${elsewhere.pathname}`;
          expect(await statusOf({ ...request, url: elsewhere.href })).toBeGreaterThanOrEqual(400);
          expect(await statusOf({ ...request, method: 'GET' })).toBeGreaterThanOrEqual(400);
          const { length } = request.body!;
          expect(
            await statusOf({ ...request, body: request.body!.slice(0, length - 2) }),
          ).toBeGreaterThanOrEqual(400);
        }
        expect(running.stored).toEqual([]);
      });
    });

    describe('its connection test', () => {
      it('passes with the right config and stores no generation', async () => {
        expect(await probe(delivering, running)).toBeNull();
        expect(running.requests.length).toBeGreaterThan(0);
        expect(running.stored).toEqual([]);
      });

      it.each(['unauthorized', 'unavailable'] as const)('fails when the platform is %s', async (failure) => {
        running.always(receiver.failures[failure]);
        expect(await probe(delivering, running)).toMatch(/\S/);
      });

      it('fails on a redirect', async () => {
        running.always({ status: 302, headers: { location: 'https://elsewhere.example.com/' } });
        expect(await probe(delivering, running)).toMatch(/\S/);
      });
    });

    if (secretFields.length > 0) {
      describe('a wrong credential', () => {
        const wrong = (field: string): ReturnType<typeof deliveringTo> => {
          const secret = String(receiver.config[field]);
          const other = secret.replace(/[A-Za-z0-9]{8,}/, (run) => 'w'.repeat(run.length));
          return deliveringTo(receiver, { ...receiver.config, [field]: other });
        };

        it.each(secretFields)('in %s is reported, and nothing is stored', async (field) => {
          expect(await probe(wrong(field), running)).toMatch(/\S/);
          await deliver(wrong(field), numbered(1), running);
          expect(running.stored).toEqual([]);
        });
      });
    }
  },
);
