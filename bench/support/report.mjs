// Renders bench/RESULTS.md: the summary, the targets, every table and the method. No part of it is written by hand.
import { FIRST_WARM_UP, GATEWAY_NAMES, WARM_UP_SECONDS } from './measuring.mjs';
import { whole } from './statistics.mjs';

const table = (columns, rows) =>
  [columns, columns.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');

/** The comparisons first; others follow by name. */
const ORDER = ['throughput', 'latency', 'open-loop', 'chat', 'workers', 'memory', 'keys', 'destinations'];

const rankOf = ({ name }) => (ORDER.includes(name) ? ORDER.indexOf(name) : ORDER.length);

const inOrder = (all) =>
  all.toSorted((one, other) => rankOf(one) - rankOf(other) || one.name.localeCompare(other.name));

const dateOf = ({ measuredAt }) => measuredAt.slice(0, 16).replace('T', ' ');

/** One row for each figure of each scenario, one column for each gateway. */
export function renderSummary(all) {
  const kinds = Object.keys(GATEWAY_NAMES);
  const rows = inOrder(all).flatMap(({ name, summary }) =>
    summary.map(({ what, figures }) => [name, what, ...kinds.map((kind) => figures[kind] ?? '')]),
  );
  return table(['scenario', 'figure', ...Object.values(GATEWAY_NAMES)], rows);
}

function renderTargets(all) {
  const rows = all.flatMap((results) =>
    results.targets.map(({ what, wanted, figure, isMet }) => [
      what,
      wanted,
      figure,
      isMet ? 'met' : '**missed**',
      results.name,
    ]),
  );
  return `## Targets\n\n${table(['what', 'wanted', 'measured', '', 'scenario'], rows)}`;
}

const describeMachine = ({ processor, cores, memoryGibibytes, system, node, postgres }) =>
  `${processor}, ${cores} cores shared by load, upstream, database and gateway, ${memoryGibibytes} GiB; ${system}; Node ${node}; PostgreSQL ${postgres}`;

function renderMachines(all) {
  const machines = new Map();
  for (const { machine, name } of all) {
    const text = describeMachine(machine);
    machines.set(text, [...(machines.get(text) ?? []), name]);
  }
  const lines = [...machines].map(([text, names]) =>
    machines.size === 1 ? `${text}.` : `- ${names.join(', ')}: ${text}.`,
  );
  return `## Machine\n\n${lines.join('\n')}`;
}

function renderScenario(results) {
  const { title, command, commit, settings, remarks, tables } = results;
  const { rounds, seconds, minutes } = settings;
  const facts = [
    `\`${command}\``,
    dateOf(results),
    ...(commit === undefined ? [] : [`commit ${commit}`]),
    ...(rounds === undefined ? [] : [`medians of ${rounds} rounds`]),
    ...(seconds === undefined ? [] : [`${seconds} s each`]),
    ...(minutes === undefined ? [] : [`${minutes} min`]),
  ].join(', ');
  return [
    `## ${title}`,
    `${facts}.`,
    ...remarks,
    ...tables.flatMap(({ title: heading, columns, rows }) => [`### ${heading}`, table(columns, rows)]),
  ].join('\n\n');
}

const METHOD = `## How it is measured

- **One machine, one run.** Figures of different machines say little about each other; ratios within a run say more. All
  rows of a table take turns: each round measures every gateway once, and a figure is the median over the rounds. _Spread_
  is the distance between the best and the worst round, as a part of the median.
- **The load** is the same for every row: \`bench/support/load.mjs\`, plain keep-alive sockets in a process of its own. Of
  every answer the status and the length are checked, and of one in 500 each vector, bit by bit; one wrong answer ends the
  run. For this, and for open loops, it takes about a quarter more processor time a call than wrk, which does neither.
- **Warm-up.** Before the first measurement with calls of one kind, every gateway answers ${whole(FIRST_WARM_UP.full.calls)} of them for each of its
  processes that answer, or as many as it can in ${FIRST_WARM_UP.full.mostSeconds} s for each: Node compiles hot code in steps, and is
  slower until then (a quick run: ${whole(FIRST_WARM_UP.quick.calls)}, ${FIRST_WARM_UP.quick.mostSeconds} s). ${WARM_UP_SECONDS} s of load comes before every measurement: a
  gateway that has stood still while the others had their turn is slower for about as long.
- **An open loop** begins calls at a fixed rate, whatever becomes of the earlier ones, and times each from the moment that
  it was due. A stall is so counted for every call that it delayed. A closed loop leaves those calls out, which is why its
  tails are not called added latency here.
- **The upstream** is a stub that answers with bytes made beforehand, after 0, 20 or 60 ms. Every input has a vector of its
  own, and hundreds of different inputs take turns.
- **The bare Nest gateway** is one route of Nest on Express with undici behind it, and nothing else: no key, no check, no
  record, and the server as Nest makes it. With the service's own adapter it is about twice as fast (docs/performance.md#tricks-in-force).
- **The bare pipe** is Node's \`http\` server with its client behind it and nothing in between: a bound for what is written
  in JavaScript.
- **signalbox** runs as an operator would run it: the key has a limit, so that every call reserves and settles money; every
  call is committed to PostgreSQL before its answer leaves (\`fsync\` and \`synchronous_commit\` on); one webhook
  destination receives a trace of every call; rate limits count; the log has its default level. The database has the
  settings of \`npm start\`.
- **The peer** is Portkey's open gateway, the version in \`conformance/portkey\`, without its log page. It gets the same
  calls for the same model through its own provider for OpenAI, chosen by headers. It keeps no keys, limits, accounts or
  traces, and so does less than signalbox does.
- **CPU and memory** are the kernel's counts for the gateway's process and its children; the database's are shown apart.

## Run it again

\`\`\`
npm run bench
npm run bench -- --quick
npm run bench -- --only throughput --rounds 5 --seconds 5
npm run bench -- --soak 10
npm run bench -- --profile throughput
\`\`\`

It needs Linux, Node and npm, and brings PostgreSQL along. The peer comes from npm when it is first asked for
(\`--no-peer\` leaves it out). Other work on the machine distorts the figures. Each scenario keeps its results in
\`bench/results/\`, and this page is made of all of them.`;

/** `all` are the results of scenarios, in any order. */
export function renderReport(all) {
  const sorted = inOrder(all);
  const isQuick = sorted.some(({ settings }) => settings.isQuick);
  return `${[
    '# Results',
    'Written by `npm run bench`. Not a test: nothing fails when a figure is missed.',
    ...(isQuick
      ? ['**Parts of this are of a quick run, with few and short rounds of what is not quite warm.**']
      : []),
    `## Summary\n\n_Added_: above the same calls without a gateway. Empty: not compared.\n\n${renderSummary(sorted)}`,
    renderTargets(sorted),
    renderMachines(sorted),
    ...sorted.map(renderScenario),
    METHOD,
  ].join('\n\n')}\n`;
}
