// Claude at Vertex speaks the Messages wire at addresses of its own (docs/contract.md#messages-providers).
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { eventsOf, postMessages } from '../../support/messages/messages-app.js';
import { RICH_EVENTS, sendError } from '../../support/messages/messages-stub.js';
import { postResponses } from '../../support/responses/responses-client.js';
import { chatOf, postChat } from '../../support/upstreams/chat-upstream.js';
import { BETA, CLAUDE_ON_VERTEX, startVertexApp } from '../../support/vertex/vertex-app.js';
import type { VertexApp } from '../../support/vertex/vertex-app.js';

let setup: VertexApp;
beforeAll(async () => {
  setup = await startVertexApp();
});
afterEach(() => setup.vertex.answerWith(null));
afterAll(() => setup.close());

const sent = () => setup.vertex.requests.at(-1)!;
const post = (body: object, headers = {}): Promise<Response> =>
  postMessages(setup.app, { model: CLAUDE_ON_VERTEX, ...body }, { headers });
const PLACE = '/v1/projects/project-of-operator/locations/global/publishers/anthropic/models';
/** Its bound is above the usage that the stub states. */
const PROMPT = { system: 'x'.repeat(90_000) };
/** 87,000 tokens of the prompt at 1.25 USD a million, 1,000 made at 10. */
const COST = 0.11875;

describe('Claude at Vertex', () => {
  it("gets the client's bytes without the model, and with the version of the cloud", async () => {
    const messages = '[ {"role":"user","content":[{"type":"text","text":"caf\\u00e9"}]} ]';
    const body = `{"model":"${CLAUDE_ON_VERTEX}","max_tokens":100,"messages":${messages},"temperature":0.10}`;
    expect((await postMessages(setup.app, body)).status).toBe(200);
    expect(sent().text).toBe(
      `{"anthropic_version":"vertex-2023-10-16","max_tokens":100,"messages":${messages},"temperature":0.10}`,
    );
    expect(sent().path).toBe(`${PLACE}/claude-stub@20261001:rawPredict`);
    expect(sent().headers.authorization).toMatch(/^Bearer ya29\./);
  });

  it('loses betas that the catalogue does not list, with their members', async () => {
    const { secret, record } = await setup.app.createKey();
    const headers = {
      'x-api-key': secret,
      'anthropic-beta': `${BETA},oauth-2025-04-20,fast-mode-2026-02-01`,
    };
    const members = { context_management: { edits: [] } };
    expect((await post(members, headers)).status).toBe(200);
    expect(sent().headers['anthropic-beta']).toBe(BETA);
    const { attempts } = await chatOf(setup.app, record.id);
    expect(attempts.at(-1)?.droppedMembers).toEqual(
      expect.arrayContaining(['anthropic-beta', 'context_management']),
    );
  });

  it('streams the events of the wire, and costs the same for every client', async () => {
    const events = await eventsOf(await post({ stream: true, ...PROMPT }));
    expect(events.map(({ event }) => event)).toEqual(RICH_EVENTS.map(({ type }) => type));
    expect(sent()).toMatchObject({
      path: `${PLACE}/claude-stub@20261001:streamRawPredict`,
      body: { stream: true },
    });
    expect(events.at(-2)?.data).toMatchObject({ usage: { cost: COST } });
    const text = PROMPT.system;
    const whole = [
      await post(PROMPT),
      await postResponses(setup.app, { model: CLAUDE_ON_VERTEX, input: text }),
      await postChat(setup.app, { model: CLAUDE_ON_VERTEX, messages: [{ role: 'user', content: text }] }),
    ];
    for (const response of whole) expect(await response.json()).toMatchObject({ usage: { cost: COST } });
  });

  it('counts tokens by an address of its own, with the model in the body', async () => {
    const body = { model: CLAUDE_ON_VERTEX, messages: [{ role: 'user', content: 'hi' }] };
    const response = await postMessages(setup.app, body, { path: '/v1/messages/count_tokens' });
    expect(await response.json()).toEqual({ input_tokens: 79 });
    expect(sent().path).toBe(`${PLACE}/count-tokens:rawPredict`);
  });

  it("passes the model's own refusal byte for byte", async () => {
    setup.vertex.answerWith((_request, response) =>
      sendError(response, 400, 'invalid_request_error', 'messages.1.content.0: Invalid'),
    );
    const response = await post({});
    expect([response.status, await response.json()]).toEqual([
      400,
      { type: 'error', error: { type: 'invalid_request_error', message: 'messages.1.content.0: Invalid' } },
    ]);
  });
});
