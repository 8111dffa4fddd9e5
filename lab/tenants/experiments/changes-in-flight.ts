import { brokenRules } from '../experiment.js';
import type { Experiment } from '../experiment.js';
import { embed, FREE_MODEL, noise, statusesOf, webhook } from '../requests.js';
import { startAttackerServer } from '../servers.js';
import { inTenantLab } from '../tenant-lab.js';

const CALLS = 40;
// Two of them fill one request: a batch is many requests, one after the other.
const INPUT_LENGTH = 400_000;
// Milliseconds that the receiver takes for each.
const ANSWERS_AFTER = 500;
const WATCHED_MS = 9_000;
// Bodies in flight when the change is answered.
const TOLERATED_BODIES = 1;

const CHANGES = [
  { name: 'deleted', method: 'DELETE', body: undefined },
  { name: 'disabled', method: 'PATCH', body: { enabled: false } },
  { name: 'privacy mode', method: 'PATCH', body: { privacy_mode: true } },
] as const;

export const changesInFlight: Experiment = {
  name: 'changes-in-flight',
  title:
    'Destinations are deleted, disabled and put into privacy mode while a batch of many requests is sent to them. No body ' +
    'with an input leaves afterwards.',
  run: (context, { root, label }) =>
    inTenantLab(context, { name: `changes_${label}`, root }, async (lab) => {
      const server = await startAttackerServer({ answersAfter: ANSWERS_AFTER, keeps: 100_000 });
      try {
        const ids: string[] = [];
        for (const { name } of CHANGES) {
          const path = name.replace(' ', '-');
          const created = (await lab.operate(
            'POST',
            '/observability/destinations',
            webhook(`${server.origin}/${path}`),
          )) as { readonly data: { readonly id: string } };
          ids.push(created.data.id);
        }
        for (let call = 0; call < CALLS; call++)
          await embed(lab, lab.attacker.apiKey, {
            model: FREE_MODEL,
            input: `an input ${noise(lab.random, INPUT_LENGTH)}`,
          });
        // Every destination has begun.
        const deadline = performance.now() + 10_000;
        const countOf = (name: string): number =>
          server.requests.filter(({ path }) => path === `/${name.replace(' ', '-')}`).length;
        while (CHANGES.some(({ name }) => countOf(name) < 2) && performance.now() < deadline)
          await lab.wait(20);
        const answers = [];
        const changedAt = new Map<string, number>();
        for (const [index, { name, method, body }] of CHANGES.entries()) {
          answers.push(
            await lab.call(method, `/observability/destinations/${ids[index]}`, {
              key: lab.attacker.managementKey,
              ...(body === undefined ? {} : { body }),
            }),
          );
          changedAt.set(name, performance.now());
        }
        await lab.wait(WATCHED_MS);
        const figures: Record<string, string> = { 'answers to the changes': statusesOf(answers) };
        const problems: string[] = [];
        for (const { name } of CHANGES) {
          const after = server.requests.filter(
            ({ path, at, body }) =>
              path === `/${name.replace(' ', '-')}` &&
              at > (changedAt.get(name) ?? Infinity) &&
              body.includes('an input'),
          ).length;
          figures[`${name}: bodies with inputs before, after`] = `${countOf(name) - after}, ${after}`;
          problems.push(
            ...brokenRules([
              after > TOLERATED_BODIES,
              `${name}: ${after} bodies with inputs left afterwards`,
            ]),
          );
        }
        return { figures, problems };
      } finally {
        await server.close();
      }
    }),
};
