import { setTimeout as pause } from 'node:timers/promises';
import { endingOf } from '../beside.js';
import { brokenRules, milliseconds } from '../experiment.js';
import type { Experiment } from '../experiment.js';
import { bombRule, statusesOf, webhook } from '../requests.js';
import { inTenantLab } from '../tenant-lab.js';
import { megabytes } from '../../support/statistics.js';

const RULES = 20;
const REQUESTS = 2;
const TIMEOUT_MS = 18_000;
const TOLERATED_MS = 500;
const TOLERATED_BYTES = 200 * 1024 * 1024;

export const regexPrograms: Experiment = {
  name: 'regex-programs',
  title:
    `A destination with ${RULES} regular expressions of 1,000 characters, each of which compiles to a million instructions, ` +
    'is created. It is refused before it is compiled.',
  run: (context, { root, label }) =>
    inTenantLab(context, { name: `regex_${label}`, root }, async (lab) => {
      const before = lab.processes.look().serving;
      const probe = await lab.probe();
      const rules = Array.from({ length: RULES }, (_value, index) => bombRule('session_id', index));
      const answers = [];
      const deadline = performance.now() + TIMEOUT_MS;
      for (let sent = 0; sent < REQUESTS && performance.now() < deadline; sent++)
        answers.push(
          await lab.call('POST', '/observability/destinations', {
            key: lab.attacker.managementKey,
            timeout: Math.max(1, deadline - performance.now()),
            body: webhook('http://127.0.0.1:9/', { filter_rules: { groups: [{ rules }] } }),
          }),
        );
      // A loop that is held for longer than this was held for at least as long.
      const held = await Promise.race([probe.stop(), pause(8_000, { longest: TIMEOUT_MS })]);
      const { serving, isAlive } = lab.processes.look();
      const ending = endingOf(lab);
      const longest = held['longest'] ?? 0;
      const isRejected = answers.every(({ status }) => status === 400);
      if (isAlive && longest > TOLERATED_MS) await lab.replica.kill();
      return {
        figures: {
          answers: statusesOf(answers),
          'event loop held, at most': milliseconds(longest),
          'memory before, peak': `${megabytes(before)}, ${megabytes(serving)}`,
          'process that serves': ending,
        },
        problems: brokenRules(
          [!isRejected, 'the rules were not refused with 400'],
          [longest > TOLERATED_MS, `the event loop was held for ${milliseconds(longest)}`],
          [serving - before > TOLERATED_BYTES, `memory grew by ${megabytes(serving - before)}`],
          [!isAlive, 'the process that serves died'],
        ),
      };
    }),
};
