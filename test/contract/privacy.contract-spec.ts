// Privacy mode: requests to destinations of any kind contain no text of callers or providers.
import { describe, expect, it } from '@jest/globals';
import { DESTINATION_KINDS } from '../../src/destination-kinds/index.js';
import type { Destination } from '../../src/domain/destinations/destination.js';
import { buildTrace } from '../../src/domain/destinations/trace-builder.js';
import {
  CANARY_CALLS,
  canariesIn,
  canary,
  readableRequest,
  TOKEN_CANARIES,
} from '../support/app/canaries.js';
import { createOpenDestination } from '../support/generations/generation-candidate.js';
import { deliveringTo, encode } from '../support/receivers/deliver.js';

const [SUCCESS, FAILURE, TOKENS] = [CANARY_CALLS[0]![1], CANARY_CALLS[1]![1], CANARY_CALLS[2]![1]];
const CHAT = CANARY_CALLS.find(([name]) => name === 'a chat')![1];

it('covers 17 kinds', () => {
  expect(DESTINATION_KINDS).toHaveLength(17);
});

describe.each(DESTINATION_KINDS.map((kind) => ({ type: kind.type, kind })))('$type', ({ type, kind }) => {
  const delivering = deliveringTo({ type, config: kind.example });

  /** The canaries in all requests for some calls to a destination of the kind. */
  async function canariesSent(
    calls: readonly (typeof SUCCESS)[],
    rules: Partial<Destination>,
  ): Promise<string[]> {
    const destination = createOpenDestination({ kind: type, type, ...rules });
    const { maxTraces } = kind.delivery.limits;
    const sent: string[] = [];
    for (let start = 0; start < calls.length; start += maxTraces) {
      const traces = calls.slice(start, start + maxTraces).map((call) => buildTrace(call, destination));
      const requests = await encode(delivering, traces);
      sent.push(...requests.map(readableRequest));
      // Otherwise no canary could be found.
      for (const { generationId } of traces) {
        expect(sent.join('\n').replaceAll('-', '')).toContain(generationId.replaceAll('-', ''));
      }
    }
    return [...new Set(sent.flatMap(canariesIn))];
  }

  it.each(CANARY_CALLS)('sends no canary of %s in privacy mode, with every flag set', async (_name, call) => {
    expect(await canariesSent([call], { privacyMode: true })).toEqual([]);
  });

  it('sends no canary of several calls at once in privacy mode, without any flag', async () => {
    const rules = {
      privacyMode: true,
      broadcastCost: false,
      broadcastIdentity: false,
      broadcastRequestContext: false,
    };
    expect(
      await canariesSent(
        CANARY_CALLS.map(([, call]) => call),
        rules,
      ),
    ).toEqual([]);
  });

  it('sends canaries without privacy mode, so that they would be found', async () => {
    const sentOf = async (call: typeof SUCCESS): Promise<string[]> =>
      canariesSent([call], { privacyMode: false });
    const members = [
      'Text',
      'SecondText',
      'GenerationName',
      'Environment',
      'Key',
      'UserAgent',
      'Referer',
      'Title',
    ];
    expect(await sentOf(SUCCESS)).toEqual(
      expect.arrayContaining(members.map((member) => canary(member).toLowerCase())),
    );
    expect(await sentOf(FAILURE)).toContain(canary('Error').toLowerCase());
    const ofChat = [
      'System',
      'ChatText',
      'Answer',
      'ToolResult',
      'ToolName',
      'ToolText',
      'CallName',
      'CallArguments',
      'Stop',
      'Native',
    ];
    expect(await sentOf(CHAT)).toEqual(
      expect.arrayContaining(ofChat.map((member) => canary(member).toLowerCase())),
    );
    expect(await sentOf(TOKENS)).toEqual(expect.arrayContaining(TOKEN_CANARIES.map(String)));
  });

  it('never sends parts that are not text', async () => {
    const sent = await canariesSent(
      CANARY_CALLS.map(([, call]) => call),
      { privacyMode: false },
    );
    expect(sent).toContain(canary('TextPart').toLowerCase());
    for (const member of ['Image', 'File', 'Unexpected', 'ParentSpanId']) {
      expect(sent).not.toContain(canary(member).toLowerCase());
    }
  });
});
