// Bodies that no route can read: the one error shape, no word of the body, and only after authentication.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { gzipSync } from 'node:zlib';
import { createTestApp } from '../../support/app/app.js';
import type { TestApp } from '../../support/app/app.js';
import { WEBHOOK } from '../../support/requests/create-destination.js';
import { expectError } from '../../support/requests/error-shape.js';
import { sendExactly, writeToSocket } from '../../support/requests/raw-requests.js';

const MEBIBYTE = 2 ** 20;
const SECRET = 'do-not-show-this-secret';
const JSON_TYPE = { 'content-type': 'application/json' };
const GZIP = { ...JSON_TYPE, 'content-encoding': 'gzip' };
const bytes = (text: string): Uint8Array => Buffer.from(text);

let app: TestApp;
let authorization: string;
beforeAll(async () => {
  app = await createTestApp();
  authorization = `Bearer ${app.managementKey}`;
});
afterAll(() => app.close());

const destinations = () => `${app.baseUrl}/observability/destinations`;

describe('bodies', () => {
  interface BadBody {
    readonly name: string;
    readonly headers?: Record<string, string>;
    readonly body?: () => Uint8Array | ReadableStream<Uint8Array>;
    readonly status?: number;
    readonly detail: string | RegExp;
  }
  const OBJECT_NEEDED = 'the body must be a JSON object';
  const TYPE_NEEDED = 'the Content-Type header must be application/json';
  const LIMIT = 'the limit is 1048576 bytes';
  const webhook = JSON.stringify(WEBHOOK);
  const BAD_BODIES: readonly BadBody[] = [
    {
      name: 'malformed JSON',
      body: () => bytes(`{"a":"${SECRET}",}`),
      detail: /: malformed JSON at position 3\d$/,
    },
    { name: 'an unquoted word', body: () => bytes(SECRET), detail: /: malformed JSON/ },
    { name: 'truncated JSON', body: () => bytes(`{"a":"${SECRET}`), detail: /: malformed JSON/ },
    // An empty body counts as an empty object: the error names missing members.
    { name: 'no body at all', detail: /: type: must be one of .*; name: must be a string; config: / },
    { name: 'an empty body', body: () => bytes(''), detail: /: type: must be one of / },
    {
      name: 'only white space',
      body: () => bytes(' \n '),
      detail: /: (?:malformed JSON|the body must be a JSON object)/,
    },
    { name: 'an array', body: () => bytes(`[${webhook}]`), detail: OBJECT_NEEDED },
    {
      name: 'null',
      body: () => bytes('null'),
      detail: /: (?:malformed JSON|the body must be a JSON object)/,
    },
    {
      name: 'a string',
      body: () => bytes(`"${SECRET}"`),
      detail: /: (?:malformed JSON|the body must be a JSON object)/,
    },
    // Decoded anyway, every such byte would be the same character.
    {
      name: 'bytes of another encoding',
      body: () => Buffer.from(`{"a":"caf\xe9 ${SECRET}"}`, 'latin1'),
      detail: 'the body must be encoded in UTF-8',
    },
    { name: 'no content type', headers: {}, body: () => bytes(webhook), detail: TYPE_NEEDED },
    ...[
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      'application/jsonx',
      'json',
      'text/plain; application/json',
      'application/json, text/plain',
    ].map((type) => ({
      name: type,
      headers: { 'content-type': type },
      body: () => bytes(webhook),
      detail: TYPE_NEEDED,
    })),
    ...['latin1', 'nonsense'].map((charset) => ({
      name: `the charset ${charset}`,
      headers: { 'content-type': `application/json; charset=${charset}` },
      body: () => bytes(webhook),
      detail: 'the body must be encoded in UTF-8',
    })),
    {
      name: 'an unknown encoding',
      headers: { ...JSON_TYPE, 'content-encoding': 'compress' },
      body: () => bytes(webhook),
      detail: /: the Content-Encoding must be gzip, deflate, br.* or identity$/,
    },
    {
      name: 'a body that is not gzip',
      headers: GZIP,
      body: () => bytes(webhook),
      detail: 'the body cannot be read',
    },
    {
      name: 'truncated gzip',
      headers: GZIP,
      body: () => gzipSync(webhook).subarray(0, -10),
      detail: 'the body cannot be read',
    },
    {
      name: 'a gzip bomb',
      headers: GZIP,
      body: () => gzipSync(Buffer.alloc(64 * MEBIBYTE, ' ')),
      status: 413,
      detail: LIMIT,
    },
    { name: 'an oversized body', body: () => Buffer.alloc(8 * MEBIBYTE, ' '), status: 413, detail: LIMIT },
    {
      name: 'an oversized body of unknown length',
      body: () =>
        new ReadableStream({
          start: (controller) => {
            controller.enqueue(Buffer.alloc(2 * MEBIBYTE, ' '));
            controller.close();
          },
        }),
      status: 413,
      detail: LIMIT,
    },
  ];

  const send = ({ headers = JSON_TYPE, body }: BadBody, credential: Record<string, string>) =>
    sendExactly(destinations(), {
      method: 'POST',
      headers: { ...headers, ...credential },
      ...(body && { body: body() }),
    });

  it.each(BAD_BODIES)('rejects $name', async (bad) => {
    const { status = 400, detail } = bad;
    const answer = await send(bad, { authorization });
    const first = status === 413 ? 'Request payload too large' : 'Invalid request parameters';
    expectError(answer, status, typeof detail === 'string' ? `${first}: ${detail}` : detail);
    expect(answer.text).not.toContain(SECRET);
    expect(answer.text).not.toContain(SECRET.slice(0, 10));
  });

  it.each(BAD_BODIES)('returns 401 before it reads $name', async (bad) => {
    expectError(await send(bad, {}), 401, 'Missing Authentication header');
    expectError(await send(bad, { authorization: 'Bearer unknown' }), 401, 'Invalid credentials');
  });

  it.each([
    ['gzip', GZIP, gzipSync(webhook)],
    [
      'parameters of the content type',
      { 'content-type': 'Application/JSON ; charset="UTF-8"' },
      bytes(webhook),
    ],
    ['the other name of UTF-8', { 'content-type': 'application/json; charset=utf8' }, bytes(webhook)],
    ['a content type twice', { 'content-type': 'application/json, application/json' }, bytes(webhook)],
    [
      'a content type twice, in gzip and with a charset',
      { ...GZIP, 'content-type': 'application/json; charset=utf-8,Application/JSON; charset=utf-8' },
      gzipSync(webhook),
    ],
    ['a suffix of the content type', { 'content-type': 'application/vnd.api+json' }, bytes(webhook)],
    ['an expectation', 'Expect: more', null],
    ['two lines of one content type', 'Content-Type: application/json', null],
  ])('reads a valid body: %s', async (_name, headers, body) => {
    // fetch cannot send these lines; a socket can.
    const answer =
      typeof headers === 'string'
        ? await writeToSocket(
            app.origin,
            `POST /api/v1/observability/destinations HTTP/1.1\r\nHost: x\r\nConnection: close\r\n` +
              `Authorization: ${authorization}\r\nContent-Type: application/json\r\n${headers}\r\n` +
              `Content-Length: ${webhook.length}\r\n\r\n${webhook}`,
          )
        : await sendExactly(destinations(), {
            method: 'POST',
            headers: { ...headers, authorization },
            ...(body && { body }),
          });
    expect(answer.status).toBe(201);
    // A workspace has five of a kind at most.
    const { data } = answer.body as { data: { id: string } };
    await fetch(`${destinations()}/${data.id}`, { method: 'DELETE', headers: { authorization } });
  });
});

describe('no body, where none is needed', () => {
  const TYPES = [undefined, 'application/json', 'application/x-www-form-urlencoded', 'text/plain'];

  async function rotatePath(): Promise<string> {
    const response = await app.http
      .post('/api/v1/keys')
      .set('authorization', authorization)
      .send({ name: 'A key' });
    return `/keys/${(response.body as { data: { hash: string } }).data.hash}/rotate`;
  }

  it.each(TYPES)('is accepted with the content type %s', async (type) => {
    const path = await rotatePath();
    const headers = { authorization, ...(type === undefined ? {} : { 'content-type': type }) };
    for (const body of [undefined, bytes('')]) {
      const sent = { method: 'POST', headers, ...(body && { body }) };
      expect((await sendExactly(`${app.baseUrl}${path}`, sent)).status).toBe(200);
    }
  });

  it.each(['', 'Content-Length: 0\r\n', 'Transfer-Encoding: chunked\r\n'])(
    'is accepted with a JSON content type and the header %j',
    async (header) => {
      const end = header.startsWith('Transfer') ? '0\r\n\r\n' : '';
      const answer = await writeToSocket(
        app.origin,
        `POST /api/v1${await rotatePath()} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n` +
          `Authorization: ${authorization}\r\nContent-Type: application/json\r\n${header}\r\n${end}`,
      );
      expect(answer.status).toBe(200);
    },
  );
});
