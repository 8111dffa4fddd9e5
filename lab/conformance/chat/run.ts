// Runs all checks of chat on one gateway, wire by wire.
import { CHAT_WIRES } from '../../../test/support/chat-providers/every-chat-provider.js';
import type {
  ChatWireName,
  EveryChatProvider,
} from '../../../test/support/chat-providers/every-chat-provider.js';
import { post } from '../gateway.js';
import { outcomeOf } from '../run-checks.js';
import type { Labelled, Outcome, Outcomes } from '../run-checks.js';
import type { Suite } from '../table.js';
import { leaveAfter } from './check.js';
import type { ChatCheck, ChatGateway } from './check.js';
import { CHAT_CHECKS } from './checks.js';

const ROWS = CHAT_WIRES.map((wire) => ({ label: wire, wire }));

export const CHAT_SUITE: Suite = { title: 'Chat', rows: ROWS, sections: [['chat completions', CHAT_CHECKS]] };

export async function runChatChecks(
  gateway: ChatGateway,
  providers: EveryChatProvider,
  signal: AbortSignal,
): Promise<Outcomes> {
  const outcomes = new Map<ChatCheck, ReadonlyMap<Labelled, Outcome>>();
  for (const check of CHAT_CHECKS) {
    const byRow = new Map<Labelled, Outcome>();
    for (const row of ROWS) {
      signal.throwIfAborted();
      byRow.set(row, await runTrial(check, gateway, row.wire, providers, signal));
    }
    outcomes.set(check, byRow);
  }
  return outcomes;
}

async function runTrial(
  check: ChatCheck,
  gateway: ChatGateway,
  wire: ChatWireName,
  providers: EveryChatProvider,
  signal: AbortSignal,
): Promise<Outcome> {
  if (check.applies && !check.applies(wire)) return { kind: 'nothing' };
  if (gateway.notOffered.has(check.head)) return { kind: 'not offered' };
  const stub = providers.stubOf(wire);
  stub.answerWith(null);
  stub.streamWith(null);
  return outcomeOf(() =>
    check.run({
      wire,
      stub,
      ask: (body) => {
        const call = gateway.callOf(wire, body);
        return post(call.url, call.headers, call.body, signal);
      },
      leaveAfter: (body, text) => leaveAfter(gateway.callOf(wire, body), text),
    }),
  );
}
