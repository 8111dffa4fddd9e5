// Puts the built service through every fault, one after the other, and says what became of the ledger each time.
import { createRandom } from '../../test/support/random.js';
import type { LedgerCounts } from '../replicas/ledger.js';
import { writeFaultPage } from './report.js';
import { Skipped } from '../replicas/scenario.js';
import type {
  FaultOptions,
  RunEnd,
  Scenario,
  ScenarioContext,
  ScenarioResult,
} from '../replicas/scenario.js';
import { chatAborts } from './scenarios/chat-aborts.js';
import { chatEndings, chatEndingsWithFailover } from './scenarios/chat-endings.js';
import {
  chatsDrained,
  chatsKilled,
  chatsStalled,
  chatsWithoutDatabase,
  providerRestarted,
} from './scenarios/chats.js';
import { clockJumps } from './scenarios/clock.js';
import {
  databaseAway,
  databaseStands,
  diskRunsFull,
  noConnections,
  slowStatements,
} from './scenarios/database.js';
import { failoverOfKilled, failoverOfSilent, failoverOfStarved } from './scenarios/failover.js';
import { kills } from './scenarios/kills.js';
import { leasesOfCutOff, leasesOfFailover, leasesOfStopped } from './scenarios/leases.js';
import { destinationFaults, slowClients, upstreamFaults } from './scenarios/network.js';
import { computingOverload, overload } from './scenarios/overload.js';
import { transactionPooler } from './scenarios/pooler.js';
import { oneOfTwoKilled } from './scenarios/replicas.js';
import { attackOnBytes, attackOnConnections, attackOnProcessor } from './scenarios/tenants.js';
import { rollingUpgrade } from './scenarios/upgrade.js';

const SCENARIOS: readonly Scenario[] = [
  kills,
  databaseAway,
  databaseStands,
  noConnections,
  slowStatements,
  diskRunsFull,
  failoverOfKilled,
  failoverOfSilent,
  failoverOfStarved,
  transactionPooler,
  upstreamFaults,
  destinationFaults,
  slowClients,
  oneOfTwoKilled,
  leasesOfCutOff,
  leasesOfFailover,
  leasesOfStopped,
  clockJumps,
  rollingUpgrade,
  overload,
  computingOverload,
  chatsKilled,
  chatsWithoutDatabase,
  chatsStalled,
  providerRestarted,
  chatsDrained,
  chatAborts,
  chatEndings,
  chatEndingsWithFailover,
  attackOnProcessor,
  attackOnBytes,
  attackOnConnections,
];

export interface ScenarioOutcome {
  readonly name: string;
  readonly outcome: 'passed' | 'failed' | 'skipped';
  readonly seconds: number;
  readonly counts: LedgerCounts | null;
  /** Why it failed or was skipped. */
  readonly problems: readonly string[];
  readonly remarks: readonly string[];
}

export async function runFaults({ context, seed, only, line }: FaultOptions): Promise<RunEnd> {
  const wanted = SCENARIOS.filter(({ name }) => name.toLowerCase().includes(only.toLowerCase()));
  if (wanted.length === 0)
    throw new Error(
      `no scenario has "${only}" in its name; there are: ${SCENARIOS.map(({ name }) => name).join('; ')}`,
    );
  const outcomes: ScenarioOutcome[] = [];
  for (const scenario of wanted) {
    line(`${scenario.name} …`);
    // Each has its own numbers: one alone does what it does among the others.
    const random = createRandom(seed);
    const outcome = await runScenario(scenario, { ...context, random });
    outcomes.push(outcome);
    line(`  ${outcome.outcome} in ${outcome.seconds} s${describeCounts(outcome.counts)}`);
    for (const text of [...outcome.remarks, ...outcome.problems]) line(`    ${text}`);
  }
  const count = (sought: ScenarioOutcome['outcome']) =>
    outcomes.filter(({ outcome }) => outcome === sought).length;
  const skipped = count('skipped') > 0 ? `, ${count('skipped')} skipped` : '';
  return {
    closing: `${count('passed')} passed, ${count('failed')} failed${skipped}`,
    page: writeFaultPage(outcomes, seed),
    isGood: count('failed') === 0 && count('passed') > 0,
  };
}

async function runScenario(scenario: Scenario, context: ScenarioContext): Promise<ScenarioOutcome> {
  const begunAt = performance.now();
  const seconds = () => Math.round((performance.now() - begunAt) / 1000);
  const { name } = scenario;
  try {
    const { counts, problems, remarks }: ScenarioResult = await scenario.run(context);
    const outcome = problems.length === 0 ? 'passed' : 'failed';
    return { name, outcome, seconds: seconds(), counts, problems, remarks };
  } catch (error) {
    context.signal.throwIfAborted();
    const isSkipped = error instanceof Skipped;
    const text = isSkipped || !(error instanceof Error) ? String(error) : (error.stack ?? error.message);
    return {
      name,
      outcome: isSkipped ? 'skipped' : 'failed',
      seconds: seconds(),
      counts: null,
      problems: [isSkipped ? error.message : text],
      remarks: [],
    };
  }
}

function describeCounts(counts: LedgerCounts | null): string {
  if (!counts) return '';
  const { seen, logged, delivered, repeated, lost, spent } = counts;
  return `: ${seen} answers seen, ${logged} logged, ${delivered} delivered (${repeated} again), ${lost} lost, ${spent} USD`;
}
