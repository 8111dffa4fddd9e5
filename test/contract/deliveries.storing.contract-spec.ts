// The pages in docs/destinations, above all of kinds that store rows and objects, and platforms whose answer takes more than one
// request.
import { afterEach, describe, expect, it } from '@jest/globals';
import { readFile } from 'node:fs/promises';
import * as fc from '../support/fast-check.js';
import { parseConfig } from '../../src/destination-kinds/shared/destination-kind.js';
import { DESTINATION_KINDS, requireDestinationKind } from '../../src/destination-kinds/index.js';
import { putObject } from '../../src/destination-kinds/objects/signed-put.js';
import { COLUMNS } from '../../src/destination-kinds/tables/columns.js';
import type { DestinationConfig } from '../../src/domain/destinations/destination.js';
import { generationTrace } from '../support/deliveries/generation-trace.js';
import { CONTEXT, deliver, deliveringTo, encode, probe, send } from '../support/receivers/deliver.js';
import { publishedTable } from '../support/receivers/published-table.js';
import { startReceiver } from '../support/receivers/receiver.js';
import type { DestinationReceiver, RunningReceiver } from '../support/receivers/receiver.js';
import { s3Receiver } from '../support/receivers/s3.js';
import { signatureProblem } from '../support/receivers/s3-signature.js';
import { snowflakeReceiver } from '../support/receivers/snowflake.js';

const TRACES = [generationTrace(1), generationTrace(2)];
const IDS = TRACES.map(({ generationId }) => generationId);
const running: RunningReceiver[] = [];

async function start(receiver: DestinationReceiver): Promise<RunningReceiver> {
  const started = await startReceiver(receiver);
  running.push(started);
  return started;
}

afterEach(async () => {
  await Promise.all(running.splice(0).map((started) => started.close()));
});

const pageOf = (type: string): Promise<string> =>
  readFile(new URL(`../../docs/destinations/${type}.md`, import.meta.url), 'utf8');

describe('the pages', () => {
  it.each(['clickhouse', 'snowflake'] as const)(
    'publish for %s a table with the columns of its rows',
    (type) => {
      const published = [...publishedTable(type).columns];
      expect(published).toEqual(COLUMNS.map((column) => [column.name, column.type[type]]));
    },
  );

  it.each(DESTINATION_KINDS.map(({ type }) => type))(
    'have the body that creates a destination: %s',
    async (type) => {
      const [, body] = /^```\n(\{.+\})\n```$/m.exec(await pageOf(type)) ?? [];
      const { config, ...others } = JSON.parse(body ?? '') as { config: DestinationConfig };
      expect(others).toEqual({ type, name: expect.any(String) });
      expect(parseConfig(requireDestinationKind(type), config)).toMatchObject(config);
    },
  );

  it('show an object as stored', async () => {
    const page = await pageOf('s3');
    const examples = [...page.matchAll(/```json\n([^]*?)```/g)].map(
      ([, json]) => JSON.parse(json ?? '') as unknown,
    );
    const [request] = await encode(deliveringTo(s3Receiver), [generationTrace(1)]);
    expect(examples.at(-1)).toEqual(JSON.parse(request!.body!.toString()));
  });
});

describe('a Snowflake statement that is still running', () => {
  const HANDLE = '019c9fce-0502-f1fc-0000-438300e02412';
  const runsOn = { status: 202, body: { code: '333334', statementHandle: HANDLE } };

  it('is polled with the same credentials until it is done', async () => {
    const receiver = await start(snowflakeReceiver);
    receiver.script(runsOn, runsOn, runsOn);
    expect(await deliver(deliveringTo(snowflakeReceiver), TRACES, receiver)).toEqual([
      { outcome: 'delivered' },
    ]);
    expect(receiver.requests.map(({ method, path }) => `${method} ${path.replace(/\?.*/, '')}`)).toEqual([
      'POST /api/v2/statements',
      `GET /api/v2/statements/${HANDLE}`,
      `GET /api/v2/statements/${HANDLE}`,
      `GET /api/v2/statements/${HANDLE}`,
    ]);
  });

  it('may still fail', async () => {
    const receiver = await start(snowflakeReceiver);
    receiver.script(runsOn, {
      status: 422,
      body: { code: '002003', sqlState: '42S02', message: "Object 'T' does not exist or not authorized." },
    });
    expect(await deliver(deliveringTo(snowflakeReceiver), TRACES, receiver)).toEqual([
      { outcome: 'blocked', reason: expect.stringContaining('does not exist') },
    ]);
  });
});

describe('a bucket in a region that the config does not name', () => {
  const { region: _region, ...config } = s3Receiver.config;

  it('is found, and every object is stored there once', async () => {
    const receiver = await start(s3Receiver);
    const outcomes = await deliver(deliveringTo(s3Receiver, config), TRACES, receiver);
    expect(outcomes).toEqual(TRACES.map(() => ({ outcome: 'delivered' })));
    expect(receiver.stored).toEqual(IDS);
    expect(receiver.requests.map(({ headers }) => headers.host)).toEqual(
      TRACES.flatMap(() => [
        'my-traces.s3.us-east-1.amazonaws.com',
        'my-traces.s3.eu-central-1.amazonaws.com',
      ]),
    );
  });

  it('is named by the connection test', async () => {
    const receiver = await start(s3Receiver);
    expect(await probe(deliveringTo(s3Receiver, config), receiver)).toContain('the region eu-central-1');
  });
});

describe("the config's headers that the store reads", () => {
  const headers = { 'X-Amz-Server-Side-Encryption': 'aws:kms', 'x-amz-tagging': 'team=search' };
  const sent = { 'x-amz-server-side-encryption': 'aws:kms', 'x-amz-tagging': 'team=search' };

  it('are sent with objects and with the connection test', async () => {
    const receiver = await start(s3Receiver);
    const delivering = deliveringTo(s3Receiver, { ...s3Receiver.config, headers });
    const [step] = await delivering.kind.delivery.probe(delivering.config, CONTEXT);
    for (const request of [...(await encode(delivering, TRACES)), step!.request]) {
      // The sender adds them to every request.
      const { status } = await send({ ...request, headers: { ...request.headers, ...sent } }, receiver);
      expect(status).toBe(200);
    }
    expect(receiver.stored).toEqual(IDS);
  });

  it('are rejected by the store when they are unsigned', async () => {
    const receiver = await start(s3Receiver);
    const [request] = await encode(deliveringTo(s3Receiver), TRACES);
    const { status } = await send({ ...request!, headers: { ...request!.headers, ...sent } }, receiver);
    expect(status).toBe(403);
  });
});

describe('the signature', () => {
  it('equals that of another implementation, for any key', async () => {
    const credentials = {
      accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
      secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
    };
    const segment = fc
      .string({ unit: 'binary', minLength: 1, maxLength: 12 })
      .filter((text) => !['.', '..'].includes(text) && !text.includes('/'));
    await fc.assert(
      fc.asyncProperty(
        fc.array(segment, { minLength: 1, maxLength: 4 }),
        fc.string({ unit: 'binary' }),
        fc.option(fc.stringMatching(/^[A-Za-z0-9+/=]{1,20}$/), { nil: undefined }),
        async (segments, body, sessionToken) => {
          const access = {
            bucketName: 'my-traces',
            ...credentials,
            ...(sessionToken ? { sessionToken } : {}),
          };
          const signing = { region: 'eu-central-1', now: CONTEXT.now };
          const { method, url, headers } = await putObject(access, segments.join('/'), body, signing);
          const { host, pathname } = new URL(url);
          expect(decodeURIComponent(pathname.slice(1))).toBe(segments.join('/'));
          const received = {
            method,
            path: pathname,
            headers: { ...headers, host },
            bytes: Buffer.from(body),
          };
          expect(signatureProblem(received, { ...access, region: 'eu-central-1' })).toBeNull();
          const altered = { ...received, path: `${pathname}x` };
          expect(signatureProblem(altered, { ...access, region: 'eu-central-1' })).toBe(
            'SignatureDoesNotMatch',
          );
        },
      ),
      { numRuns: 300 },
    );
  });
});
