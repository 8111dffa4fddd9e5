import { brokenRules, milliseconds } from '../experiment.js';
import type { Experiment } from '../experiment.js';
import { answerWithUsage, createKey, embed, FIVE_TOKENS, PRICE, statusesOf } from '../requests.js';
import { inTenantLab } from '../tenant-lab.js';

// Inputs of a large call; the limit has room for one of them and for a part of the second.
const LARGE = 1_000;
const ROOM = 1.7;
// Milliseconds that the provider takes for the first large call: longer than a call waits for money.
const HELD_MS = 11_500;
const SMALL_CALLS = 20;
const TOLERATED_MS = 1_000;

export const largeWaitingCall: Experiment = {
  name: 'large-waiting-call',
  title:
    'One large call holds most of a limit, another large one waits for it. Small calls of the same key, for which there is ' +
    'money, neither wait nor fail.',
  run: (context, { root, label }) =>
    inTenantLab(
      context,
      { name: `waiting_${label}`, root, environment: { PROVIDER_TIMEOUT_MS: '20000' } },
      async (lab) => {
        const serve = answerWithUsage((inputs) => inputs.length);
        lab.upstream.answerWith((request, response) => {
          const { input } = request.body;
          const isLarge = Array.isArray(input) && input.length === LARGE;
          if (!isLarge) return serve(request, response);
          setTimeout(() => void serve(request, response), HELD_MS);
        });
        const { key } = await createKey(lab, { limit: LARGE * 5 * PRICE * ROOM });
        const large = { input: Array.from({ length: LARGE }, () => FIVE_TOKENS) };
        const holding = embed(lab, key, large);
        await lab.wait(500);
        const waiting = embed(lab, key, large);
        await lab.wait(300);
        const small = await Promise.all(
          Array.from({ length: SMALL_CALLS }, async (_value, index) => {
            await lab.wait(index * 20);
            return embed(lab, key, { input: FIVE_TOKENS });
          }),
        );
        const large_ = await Promise.all([holding, waiting]);
        const slowest = Math.max(...small.map(({ milliseconds: took }) => took));
        const failed = small.filter(({ status }) => status !== 200).length;
        return {
          figures: {
            'large calls': statusesOf(large_),
            'small calls': statusesOf(small),
            'slowest small call': milliseconds(slowest),
          },
          problems: brokenRules(
            [failed > 0, `${failed} small calls failed`],
            [slowest > TOLERATED_MS, `a small call took ${milliseconds(slowest)}`],
          ),
        };
      },
    ),
};
