import { brokenRules, usd } from '../experiment.js';
import type { Experiment } from '../experiment.js';
import { answerWithUsage, createKey, createWorkspace, embed, spentOf, statusesOf } from '../requests.js';
import { inTenantLab } from '../tenant-lab.js';

// USD, and the tokens that the provider reports for an input of one.
const LIMIT = 0.001;
const REPORTED = 1_000_000;
const CALLS = 100;

export const overReportedUsage: Experiment = {
  name: 'over-reported-usage',
  title:
    `A provider reports ${REPORTED} tokens for "hi". A key and a workspace budget of ${LIMIT} USD must not be overspent, ` +
    'and calls cost at most what was reserved.',
  run: (context, { root, label }) =>
    inTenantLab(context, { name: `usage_${label}`, root }, async (lab) => {
      lab.upstream.answerWith(answerWithUsage(() => REPORTED));
      const limited = await createKey(lab, { limit: LIMIT });
      const workspace = await createWorkspace(lab, 'budgeted');
      const budget = await lab.call('PUT', `/workspaces/${workspace}/budgets/lifetime`, {
        key: lab.keys.managementKey,
        body: { limit_usd: LIMIT },
      });
      if (budget.status !== 200) throw new Error(`the budget was not set: ${budget.status} ${budget.text}`);
      const budgeted = await createKey(lab, { workspace_id: workspace });
      const callAll = async (key: string) => {
        const answers = [];
        for (let call = 0; call < CALLS; call++) answers.push(await embed(lab, key, { input: 'hi' }));
        return answers;
      };
      const byKey = await callAll(limited.key);
      const byBudget = await callAll(budgeted.key);
      const [ofKey, ofBudget] = [await spentOf(lab, limited.hash), await spentOf(lab, budgeted.hash)];
      return {
        figures: {
          'key: limit, spent': `${usd(LIMIT)}, ${usd(ofKey)}`,
          'key: calls': statusesOf(byKey),
          'budget: limit, spent': `${usd(LIMIT)}, ${usd(ofBudget)}`,
          'budget: calls': statusesOf(byBudget),
        },
        problems: brokenRules(
          [ofKey > LIMIT, `the key spent ${usd(ofKey)} of ${usd(LIMIT)}`],
          [ofBudget > LIMIT, `the workspace spent ${usd(ofBudget)} of ${usd(LIMIT)}`],
        ),
      };
    }),
};
