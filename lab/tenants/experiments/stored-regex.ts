import { brokenRules, milliseconds } from '../experiment.js';
import type { Experiment } from '../experiment.js';
import { endingOf, measureLoad, OTHER_LOAD, watchArrivals } from '../beside.js';
import { bombRule, FREE_MODEL, webhook } from '../requests.js';
import { inTenantLab } from '../tenant-lab.js';
import { megabytes, percentile } from '../../support/statistics.js';

const RULES = 20;
const CALLS = 50;
const ATTACK_MS = 8_000;
const TOLERATED_LAG_MS = 2_000;

export const storedRegex: Experiment = {
  name: 'stored-regex',
  title:
    'The same rules stand in the database already, with a backlog behind them. They disable their destination with a ' +
    "reason; no process dies, and the others' deliveries go on.",
  run: (context, { root, label }) =>
    inTenantLab(context, { name: `stored_${label}`, root }, async (lab) => {
      const created = (await lab.operate(
        'POST',
        '/observability/destinations',
        webhook('http://127.0.0.1:9/', {
          filter_rules: { groups: [{ rules: [bombRule('model')].slice(1) }] },
        }),
      )) as { readonly data: { readonly id: string } };
      const rules = Array.from({ length: RULES }, (_value, index) => bombRule('session_id', index));
      const filter = JSON.stringify({ enabled: true, groups: [{ logic: 'and', rules }] });
      const { id } = created.data;
      await lab.sql(
        `UPDATE destinations SET filter_rules = '${filter}'::jsonb, version = version + 1 WHERE id = '${id}'`,
      );
      const arrivals = watchArrivals(lab);
      const attack = await lab.attack('storm', {
        requests: [
          {
            method: 'POST',
            path: '/embeddings',
            key: 'inference',
            body: JSON.stringify({
              model: FREE_MODEL,
              dimensions: 8,
              input: 'a backlog',
              session_id: 'a'.repeat(250),
            }),
          },
        ],
        clients: 4,
        most: CALLS,
        pause: 0,
        timeout: 10_000,
      });
      const others = await measureLoad(lab, ATTACK_MS, OTHER_LOAD);
      await arrivals.untilAllOf([others]);
      arrivals.stop();
      await attack.stop();
      const lags = arrivals.lagsOf(others);
      const { serving, delivering, isAlive, restarts, killed } = lab.processes.look();
      const described = await lab.call('GET', `/observability/destinations/${id}/deliveries`, {
        key: lab.attacker.managementKey,
        timeout: 5_000,
      });
      const worst = Math.max(0, ...lags);
      return {
        figures: {
          'delivery processes that died': `${restarts}`,
          'ended here: too large': `${killed}`,
          'process that serves': endingOf(lab),
          'memory, peak: serves, delivers': `${megabytes(serving)}, ${megabytes(delivering)}`,
          "others' deliveries: p50, last": `${milliseconds(percentile(lags, 0.5))}, ${milliseconds(worst)}`,
          'its destination says': summaryOf(described.text),
        },
        problems: brokenRules(
          [restarts > 0 || killed > 0 || !isAlive, 'a process died'],
          [worst > TOLERATED_LAG_MS, `a delivery of the others came after ${milliseconds(worst)}`],
        ),
      };
    }),
};

function summaryOf(text: string): string {
  try {
    const { data } = JSON.parse(text) as { readonly data: Readonly<Record<string, unknown>> };
    const { status, state, last_error: error } = data;
    return JSON.stringify({
      status: status ?? state,
      error: (error as { message?: unknown })?.message ?? error,
    }).slice(0, 200);
  } catch {
    return 'nothing';
  }
}
