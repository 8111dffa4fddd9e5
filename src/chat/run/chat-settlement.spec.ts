// The charge of a call without a limit: a provider's report costs at most the bound of the call (docs/contract.md#chat-spend).
import { describe, expect, it } from '@jest/globals';
import {
  boundedChat,
  datedPrices,
  LIST_PRICES,
  NO_CHAT_USAGE,
  pricedEndpoint,
} from '../../../test/support/chat/charges.js';
import type { ChatEndpoint } from '../../domain/chat/chat-model.js';
import type { OwnCredential, ChatTarget } from '../../routing/endpoint-target.js';
import { greatestChatCost } from '../charges/chat-bound.js';
import type { ReservedCall } from '../charges/chat-bounds.js';
import type { ChatCharge } from '../charges/chat-charge.js';
import { chargeOf as chargeOfRun } from './chat-settlement.js';
import type { ExecutedChat } from './executed-chat.js';

const OVER_REPORTED = 2_000_000_000;

interface ChargedCall {
  readonly endpoint?: ChatEndpoint;
  readonly isByok?: boolean;
  readonly ending?: ExecutedChat['ending'];
  readonly providerToolUses?: number;
}

async function chargeOf(
  promptTokens: number,
  {
    endpoint = pricedEndpoint(),
    isByok = false,
    ending = 'completed',
    providerToolUses = 0,
  }: ChargedCall = {},
): Promise<ChatCharge> {
  const target = {
    endpoint,
    provider: { slug: 'openai' },
    credential: isByok ? ({ id: 'own' } as OwnCredential) : null,
  } as unknown as ChatTarget;
  const executed = {
    ending,
    received: { choices: [{ finishReason: 'stop' }], serviceTier: null },
    routed: { begun: { target } },
  } as unknown as ExecutedChat;
  const usage = { ...NO_CHAT_USAGE, promptTokens, completionTokens: 1, providerToolUses };
  const settled = { usage, source: 'reported' as const, isConsistent: true };
  return chargeOfRun(executed, target, settled, await callWithoutLimit(), null, []);
}

async function callWithoutLimit(): Promise<ReservedCall> {
  return (await boundedChat({})) as ReservedCall;
}

async function boundAt(endpoint: ChatEndpoint): Promise<bigint> {
  return greatestChatCost(await callWithoutLimit(), endpoint) ?? -1n;
}

describe('a call without a limit', () => {
  it('pays a report within its bound in full', async () => {
    const { charge, overrun } = await chargeOf(10);
    expect([charge.cost, overrun, charge.unpaid]).toEqual([10n * 400_000n + 1_600_000n, null, []]);
  });

  it('pays the bound of a report beyond it, and the operator the rest', async () => {
    const bound = await boundAt(pricedEndpoint());
    const reported = BigInt(OVER_REPORTED) * 400_000n + 1_600_000n;
    const { charge, overrun } = await chargeOf(OVER_REPORTED);
    expect([charge.cost, charge.upstreamCost, overrun]).toEqual([bound, reported, reported - bound]);
    expect(charge.unpaid).toMatchObject([{ reason: 'over_reported', amount: reported - bound }]);
  });

  it('pays its tokens where the provider searched by itself, and the operator an unknown amount', async () => {
    const { charge } = await chargeOf(10, { providerToolUses: 3 });
    expect(charge.cost).toBe(10n * 400_000n + 1_600_000n);
    expect(charge.unpaid).toMatchObject([{ reason: 'over_reported', amount: null, isOwn: false }]);
  });

  it('has the most expensive tier that its prompt can reach as its bound, whatever tier the report names', async () => {
    const prices = datedPrices(LIST_PRICES, { tiers: [{ minPromptTokens: 200_000, prompt: 800_000n }] });
    const endpoint = pricedEndpoint({ prices: [prices] });
    const { charge } = await chargeOf(OVER_REPORTED, { endpoint });
    expect(charge.cost).toBe(await boundAt(pricedEndpoint()));
  });

  it('counts at most the bound for an own provider key, of an answer and of a failure', async () => {
    const bound = await boundAt(pricedEndpoint());
    const answered = await chargeOf(OVER_REPORTED, { isByok: true });
    expect([answered.charge.cost, answered.charge.upstreamCost]).toEqual([0n, bound]);
    const failed = await chargeOf(OVER_REPORTED, { isByok: true, ending: 'provider_after_content' });
    expect([failed.charge.cost, failed.charge.upstreamCost]).toEqual([0n, bound]);
  });

  it('has no cost where no price is known', async () => {
    const { charge } = await chargeOf(OVER_REPORTED, { endpoint: pricedEndpoint({ prices: [] }) });
    expect([charge.cost, charge.upstreamCost]).toEqual([null, null]);
  });
});
