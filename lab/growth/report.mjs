// The report of the growth benchmark: targets, tables and remarks.
import { renderTables, renderTargets } from '../bench/report.mjs';
import { describeRun } from '../support/report.ts';
import { median, medianRatio, milliseconds, percent, spread, times, whole } from '../support/statistics.ts';

const MOST_GROWTH = 1.15;
/** Of a page of the console. */
const MOST_QUESTION_MS = 300;
const COLUMNS = 'operation,load,p50 empty,p50 filled,ratio,p99 empty,p99 filled,ratio,spread'.split(',');

const describeLoad = ({ connections, rate }) =>
  `${connections} connection${connections === 1 ? '' : 's'}, ${rate}/s`;

const ratioOf = ({ empty, filled }, part) => medianRatio(filled[part], empty[part]);

/** `empty` and `filled` have the percentiles of each turn. */
export function operationRow({ name, load, empty, filled }) {
  const cellsOf = (part) => [
    milliseconds(median(empty[part])),
    milliseconds(median(filled[part])),
    times(ratioOf({ empty, filled }, part)),
  ];
  return [name, describeLoad(load), ...cellsOf('p50'), ...cellsOf('p99'), percent(spread(empty.p99))];
}

function assessOperations(operations) {
  const most = (part) => Math.max(...operations.map((operation) => ratioOf(operation, part)));
  return ['p50', 'p99'].map((part) => {
    const ratio = most(part);
    return {
      what: `${part} of the three operations, filled to empty, the largest`,
      wanted: `at most ${times(MOST_GROWTH)}`,
      figure: times(ratio),
      isMet: ratio <= MOST_GROWTH,
    };
  });
}

function assessInputs(inputs) {
  const rising = inputs.filter(({ time }, index) => index > 0 && time > inputs[index - 1].time);
  return {
    what: `time for an input, from ${inputs[0].inputs} to ${inputs.at(-1).inputs} inputs`,
    wanted: 'falls or stays',
    figure: rising.length === 0 ? 'falls' : `rises at ${rising.map((row) => row.inputs).join(', ')}`,
    isMet: rising.length === 0,
  };
}

function assessQuestions(questions) {
  const slowest = questions.toSorted((left, right) => right.cpu - left.cpu)[0];
  const late = questions.filter(({ cpu }) => cpu >= MOST_QUESTION_MS);
  return {
    what: `processor time of ${questions.length} questions of the console, filled, the longest`,
    wanted: `below ${milliseconds(MOST_QUESTION_MS)}`,
    figure: `${milliseconds(slowest.cpu)}, ${slowest.name}; ${late.length} miss it`,
    isMet: late.length === 0,
  };
}

/** Absent: `--only console` measures the questions alone. */
export function describeGrowth({ operations = [], inputs = [], questions, sizes }) {
  const tables = [
    {
      title: 'Empty and filled',
      columns: COLUMNS,
      rows: operations.map(operationRow),
    },
    {
      title: 'Inputs of a call, base64, 1,536 dimensions, filled, one connection',
      columns: ['inputs', 'p50', 'µs for an input', 'CPU µs for an input'],
      rows: inputs.map((row) => [row.inputs, milliseconds(row.p50), row.time.toFixed(1), row.cpu.toFixed(1)]),
    },
    {
      title: "The console's questions, filled, one after the other",
      columns: ['question', 'first', 'p50', 'processor time'],
      rows: questions.map(({ name, first, p50, cpu }) => [name, ...[first, p50, cpu].map(milliseconds)]),
    },
  ];
  return {
    targets: [
      ...(operations.length === 0 ? [] : assessOperations(operations)),
      ...(inputs.length === 0 ? [] : [assessInputs(inputs)]),
      assessQuestions(questions),
    ],
    tables: tables.filter(({ rows }) => rows.length > 0),
    remarks: [
      `Filled: ${whole(sizes.generations)} generations over thirty days, ${whole(sizes.keys)} keys, ` +
        `${whole(sizes.destinations)} destinations; the account that is measured has a tenth of the keys and a fifth of ` +
        'the generations. Both services run on one database server and take short turns, of which the medians are ' +
        'shown; ratios are medians of those of each turn. Open loop.',
    ],
  };
}

export const renderGrowth = (results, command) =>
  [
    '# Growth',
    describeRun(command),
    ...results.remarks,
    renderTargets([results]),
    renderTables(results),
  ].join('\n\n');
