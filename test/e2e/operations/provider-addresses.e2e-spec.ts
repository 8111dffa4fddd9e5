// A provider whose address has moved or is wrong: the log and GET /system name the variable, for every provider and for both
// operations. Contract: docs/contract.md#system.
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { providerPrefix } from '../../../src/domain/providers/provider.js';
import { createTestApp } from '../../support/app/app.js';
import type { TestApp } from '../../support/app/app.js';
import { withCatalogueFile } from '../../support/catalogue/catalogue-file.js';
import {
  CHAT_WIRES,
  modelAt,
  startEveryChatProvider,
} from '../../support/chat-providers/every-chat-provider.js';
import type { EveryChatProvider } from '../../support/chat-providers/every-chat-provider.js';
import { PROVIDER_STUBS } from '../../support/providers/index.js';
import { PROVIDER_ROWS } from '../../support/providers/rows.js';
import { askFor } from '../../support/requests/admin.js';
import { embed, rejectWith } from '../../support/requests/create-embedding.js';
import { inHouseCatalogue } from '../../support/routing/every-provider.js';
import { postChat } from '../../support/upstreams/chat-upstream.js';
import { patternVector, sendJson, startStubUpstream } from '../../support/upstreams/stub-upstream.js';
import type { StubUpstream } from '../../support/upstreams/stub-upstream.js';

interface Problem {
  readonly provider: string;
  readonly variable: string;
  readonly status: number | null;
  readonly problem: string;
}

const SLUGS = [...new Set(PROVIDER_STUBS.map(({ slug }) => slug))];
const warn = jest.spyOn(Logger.prototype, 'warn');

let upstream: StubUpstream;
let chatProviders: EveryChatProvider;
let app: TestApp;
beforeAll(async () => {
  upstream = await startStubUpstream();
  chatProviders = await startEveryChatProvider();
  const environment = Object.fromEntries(
    PROVIDER_STUBS.flatMap(({ slug, apiKey }) => [
      [`${providerPrefix(slug)}_BASE_URL`, `${upstream.origin}/old`],
      [`${providerPrefix(slug)}_API_KEY`, apiKey],
    ]),
  );
  const { models } = JSON.parse(inHouseCatalogue()) as { models: object };
  const { chat_models: chats } = JSON.parse(
    // The embedding models have these ids.
    chatProviders.catalogue.replaceAll('"in-house/', '"in-house-chat/'),
  ) as { chat_models: object };
  app = await withCatalogueFile(JSON.stringify({ models, chat_models: chats }), (file) =>
    createTestApp({
      environment: {
        ...environment,
        CATALOGUE_FILE: file,
        PROVIDER_RETRIES: '0',
        RATE_LIMIT_MANAGEMENT_PER_MINUTE: '0',
      },
    }),
  );
});
afterAll(async () => {
  await app.close();
  await chatProviders.close();
  await upstream.close();
  warn.mockRestore();
});

const callEmbeddings = (slug: string) => {
  const row = PROVIDER_ROWS.find(({ stub }) => stub.slug === slug);
  return embed(app, { model: row?.id, input: 'hi', provider: { only: [slug] } });
};
const problemsOf = async (slug: string): Promise<readonly Problem[]> =>
  (
    await askFor<{ data: { provider_addresses: Problem[] } }>(200, app, 'get', '/system')
  ).data.provider_addresses.filter(({ provider }) => provider === slug);
const linesAbout = (variable: string): unknown[] =>
  warn.mock.calls.map(([line]) => line as unknown).filter((line) => String(line).includes(variable));

describe.each([
  [301, 'the address has moved, and redirects are not followed'],
  [404, 'the address is wrong'],
  [405, 'the address is wrong'],
])('an address that answers %d', (status, reason) => {
  beforeAll(() => {
    warn.mockClear();
    const headers = { location: `${upstream.origin}/new/v1`, 'content-type': 'text/html' };
    upstream.answerWith(rejectWith(status, '<html><body>nginx</body></html>', headers));
  });

  it.each(SLUGS)('is named for embeddings by %s, in the log and in /system', async (slug) => {
    const variable = `${providerPrefix(slug)}_BASE_URL`;
    const before = upstream.requests.length;
    const response = await callEmbeddings(slug);
    expect([response.status, response.text]).toEqual([502, expect.stringContaining(variable)]);
    // No redirect is followed.
    expect(upstream.requests.length - before).toBe(1);
    const problem = `embeddings at the address in ${variable} (HTTP ${status}); ${reason}: set ${variable} to the base of the API`;
    expect(await problemsOf(slug)).toContainEqual({
      provider: slug,
      variable,
      status,
      problem: expect.stringContaining(problem),
      last_seen_at: expect.any(String),
    });
    if (status === 301) expect(linesAbout(variable)).toEqual([expect.stringContaining(problem)]);
  });

  it.each(CHAT_WIRES)('is named for chats by %s', async (wire) => {
    const variable = `${providerPrefix(wire)}_BASE_URL`;
    for (const stream of [false, true]) {
      const response = await postChat(app, { model: modelAt(wire).replace('/', '-chat/'), stream });
      expect([response.status, await response.text()]).toEqual([502, expect.stringContaining(variable)]);
    }
    const problem = `chat completions at the address in ${variable} (HTTP ${status}); ${reason}`;
    expect(await problemsOf(wire)).toContainEqual(
      expect.objectContaining({ problem: expect.stringContaining(problem) }),
    );
  });
});

it('is named no longer once a call is served, and is logged again afterwards', async () => {
  const data = [{ index: 0, embedding: patternVector(0, 1_536) }];
  upstream.answerWith((_request, response) =>
    sendJson(response, 200, { data, usage: { prompt_tokens: 1, total_tokens: 1 } }),
  );
  expect((await callEmbeddings('openai')).status).toBe(200);
  expect(await problemsOf('openai')).toEqual([
    expect.objectContaining({ problem: expect.stringContaining('chat completions') }),
  ]);
  warn.mockClear();
  upstream.answerWith(rejectWith(404, ''));
  for (let calls = 0; calls < 3; calls++) await callEmbeddings('openai');
  expect(linesAbout('OPENAI_BASE_URL')).toHaveLength(1);
});

it('is right where the API is known and the model is not', async () => {
  upstream.answerWith(rejectWith(404, { error: { message: 'The model `x` does not exist' } }));
  expect((await callEmbeddings('mistral')).status).toBe(502);
  expect((await problemsOf('mistral')).map(({ status }) => status)).not.toContain(404);
});
