import { answerLikeOpenAi, sendJson } from '../../../test/support/upstreams/stub-upstream.js';
import { brokenRules, usd } from '../experiment.js';
import type { Experiment } from '../experiment.js';
import { answerWithUsage, createKey, embed, FIVE_TOKENS, PRICE, spentOf, statusesOf } from '../requests.js';
import { inTenantLab } from '../tenant-lab.js';

const CALLS = 5;
const SERVED_INPUTS = 4_096;
const REJECTED = 'an input that the provider refuses';
// Milliseconds: the other parts of the call are served by then.
const REJECTION_TAKES = 500;

export const failedCalls: Experiment = {
  name: 'failed-calls',
  title:
    `Calls of ${SERVED_INPUTS} inputs that the provider bills and one that it refuses with 400. The caller pays for what ` +
    'was billed through its own fault, at most what was reserved.',
  run: (context, { root, label }) =>
    inTenantLab(context, { name: `failed_${label}`, root }, async (lab) => {
      let billedTokens = 0;
      const serve = answerWithUsage((inputs) => {
        billedTokens += inputs.length * 5;
        return inputs.length * 5;
      });
      lab.upstream.answerWith((request, response) => {
        const { input } = request.body;
        if (!(Array.isArray(input) && input.includes(REJECTED))) return serve(request, response);
        setTimeout(
          () => sendJson(response, 400, { error: { message: 'refused', type: 'invalid_request_error' } }),
          REJECTION_TAKES,
        );
      });
      const { key, hash } = await createKey(lab, { limit: 1 });
      const input = [...Array.from({ length: SERVED_INPUTS }, () => FIVE_TOKENS), REJECTED];
      const answers = [];
      for (let call = 0; call < CALLS; call++) answers.push(await embed(lab, key, { input }));
      lab.upstream.answerWith(answerLikeOpenAi);
      const billed = billedTokens * PRICE;
      const charged = await spentOf(lab, hash);
      return {
        figures: {
          calls: statusesOf(answers),
          'billed by the provider': usd(billed),
          'charged to the key': usd(charged),
        },
        problems: brokenRules(
          [charged < billed * 0.999, `the operator paid ${usd(billed - charged)} of ${usd(billed)}`],
          [charged > billed * 1.001, `the key paid ${usd(charged)} for ${usd(billed)}`],
        ),
      };
    }),
};
