// The one question after every fault: do the answers that clients saw, the log, the spend counters and what the
// destination was given agree, to the call and to the cent?
import { isDeepStrictEqual } from 'node:util';
import { formatUsd, parseUsd } from '../../src/domain/spend/money.js';
import type { Lab } from './lab.js';
import { totalRejections } from './load-report.js';
import type { LoadReport } from './load-report.js';

export interface LedgerCounts {
  /** Answers that clients saw. */
  readonly seen: number;
  /** Calls that ended otherwise, or whose end was not seen. */
  readonly unanswered: number;
  /** Generations in the log. */
  readonly logged: number;
  /** Generations that the destination has, each counted once, and how often it got one again. */
  readonly delivered: number;
  readonly repeated: number;
  /** Received answers that are in the log and not delivered, or not even in the log. */
  readonly lost: number;
  /** USD. */
  readonly spent: string;
}

export interface Ledger {
  readonly counts: LedgerCounts;
  /** Empty: everything agrees. */
  readonly problems: readonly string[];
}

/** Without progress: on a machine under load a backlog may take minutes. */
const DELIVERY_TIMEOUT_MS = 180_000;
const BETWEEN_LOOKS_MS = 100;
const SHOWN = 3;

interface LoggedCall {
  readonly id: string;
  readonly status: number;
  readonly cost: string | null;
}

/** Everything has to be healed, and the load stopped. */
export async function checkLedger(lab: Lab, reports: readonly LoadReport[]): Promise<Ledger> {
  const seen = reports.flatMap((report) => report.seen);
  const unanswered = reports.reduce(
    (sum, report) => sum + report.broken + report.left.length + totalRejections(report),
    0,
  );
  const problems = reports.flatMap(({ wrong }) => wrong);
  await untilDelivered(lab);
  const log = await lab.sql<LoggedCall>(`SELECT id, status, cost FROM generations WHERE ${loggedFor(lab)}`);
  const byId = new Map(log.map((call) => [call.id, call]));
  if (byId.size !== log.length) problems.push(`${log.length - byId.size} generations are logged twice`);

  const ids = new Set(seen.map(({ generation }) => generation));
  if (ids.size !== seen.length) problems.push(`${seen.length - ids.size} answers share an id`);
  const unlogged = [...ids].filter((id) => !byId.has(id));
  if (unlogged.length > 0) problems.push(`${unlogged.length} answers are not logged: ${shown(unlogged)}`);
  const otherCost = seen.filter(({ generation, cost }) => {
    const logged = byId.get(generation)?.cost;
    return logged !== undefined && (logged === null || Number(logged) !== cost);
  });
  if (otherCost.length > 0) problems.push(`${otherCost.length} answers cost something else in the log`);
  problems.push(...compareStreams(reports, byId));
  const unseen = log.filter(({ id, status }) => status === 200 && !ids.has(id)).length;
  if (unseen > unanswered)
    problems.push(`${unseen} calls were logged as answered and not seen, with ${unanswered} unanswered`);

  const delivered = new Set(lab.receiver.stored);
  const undelivered = log.filter(({ id }) => !delivered.has(id)).map(({ id }) => id);
  if (undelivered.length > 0)
    problems.push(`${undelivered.length} generations were not delivered: ${shown(undelivered)}`);
  const invented = [...delivered].filter((id) => !byId.has(id));
  if (invented.length > 0)
    problems.push(`${invented.length} delivered generations are not in the log: ${shown(invented)}`);
  problems.push(...(await compareSpend(lab)), ...(await compareCursor(lab, log.length)));
  const spent = log.reduce((sum, { cost }) => sum + (cost === null ? 0n : parseUsd(cost)), 0n);
  return {
    counts: {
      seen: seen.length,
      unanswered,
      logged: log.length,
      delivered: delivered.size,
      repeated: lab.receiver.stored.length - delivered.size,
      lost: [...ids].filter((id) => !delivered.has(id) || !byId.has(id)).length,
      spent: formatUsd(spent),
    },
    problems,
  };
}

/** Streams whose client saw no usage: left, or failed after the headers. Their provider worked, so each is in the log. */
function compareStreams(reports: readonly LoadReport[], byId: ReadonlyMap<string, LoggedCall>): string[] {
  const problems: string[] = [];
  const left = reports.flatMap((report) => report.left).filter((id) => id !== null);
  const lostLeft = left.filter((id) => !byId.has(id));
  if (lostLeft.length > 0)
    problems.push(`${lostLeft.length} calls that their client left are not logged: ${shown(lostLeft)}`);
  const failed = reports.flatMap((report) => report.failedStreams);
  const lostFailed = failed.filter(({ generation }) => !byId.has(generation));
  if (lostFailed.length > 0) {
    const ids = lostFailed.map(({ generation }) => generation);
    problems.push(`${lostFailed.length} streams that failed are not logged: ${shown(ids)}`);
  }
  // 503: the service's own failure, after which the call may be recorded as answered, and charged.
  const others = failed.filter(({ generation, code }) => {
    const call = byId.get(generation);
    return code !== 503 && call && (call.status !== code || Number(call.cost) !== 0);
  });
  if (others.length > 0)
    problems.push(`${others.length} streams failed otherwise in the log, or were charged there`);
  return problems;
}

/** Calls of the workspace whose destination is watched: what another account does beside it is not its ledger. */
const loggedFor = ({ destinationId }: Lab): string =>
  `workspace_id = (SELECT workspace_id FROM destinations WHERE id = '${destinationId}')`;

const shown = (ids: readonly string[]): string => ids.slice(0, SHOWN).join(', ');

/** Resolves when the cursors have counted all that is logged, or no longer advance. */
export async function untilDelivered(lab: Lab): Promise<void> {
  let advancedAt = performance.now();
  let counted = -1;
  while (performance.now() - advancedAt < DELIVERY_TIMEOUT_MS) {
    const [row] = await lab.sql<{ logged: string; delivered: string }>(
      `SELECT (SELECT count(*) FROM generations WHERE ${loggedFor(lab)}) AS logged,
        (SELECT delivered FROM delivery_cursors WHERE destination_id = '${lab.destinationId}') AS delivered`,
    );
    const delivered = Number(row?.delivered ?? 0);
    if (row && Number(row.logged) === delivered) return;
    if (delivered > counted) advancedAt = performance.now();
    counted = delivered;
    await lab.wait(BETWEEN_LOOKS_MS);
  }
}

/** Every counter against the sum of the log, and what is reserved against the leases. */
async function compareSpend(lab: Lab): Promise<string[]> {
  const problems: string[] = [];
  for (const { kind, table, holder, logColumn } of [
    { kind: 'key', table: 'key_spend', holder: 'api_key_id', logColumn: 'api_key_id' },
    { kind: 'workspace', table: 'workspace_spend', holder: 'workspace_id', logColumn: 'workspace_id' },
    { kind: 'account', table: 'account_spend', holder: 'account_id', logColumn: 'account_id' },
  ] as const) {
    const rows = await lab.sql<Record<'counted' | 'logged' | 'reserved' | 'leased', string>>(
      `SELECT counter.total AS counted, counter.reserved,
        (SELECT coalesce(sum(cost), 0) FROM generations WHERE ${logColumn} = counter.${holder}) AS logged,
        (SELECT coalesce(sum(amount), 0) FROM spend_leases
          WHERE holder = '${kind}' AND holder_id = counter.${holder}) AS leased
       FROM ${table} AS counter`,
    );
    for (const { counted, logged, reserved, leased } of rows) {
      if (parseUsd(counted) !== parseUsd(logged))
        problems.push(`a ${kind} counter says ${counted} USD and the log ${logged} USD`);
      if (parseUsd(reserved) !== parseUsd(leased))
        problems.push(`a ${kind} counter has ${reserved} USD reserved and its leases are of ${leased} USD`);
    }
  }
  return problems;
}

async function compareCursor(lab: Lab, logged: number): Promise<string[]> {
  const cursors = await lab.sql<{ delivered: string; dropped: object }>(
    `SELECT delivered, dropped FROM delivery_cursors WHERE destination_id = '${lab.destinationId}'`,
  );
  return cursors.flatMap(({ delivered, dropped }) => {
    const wrongCount = `a cursor has counted ${delivered} deliveries of ${logged}`;
    const wrongDrops = `a cursor has dropped ${JSON.stringify(dropped)}`;
    return [
      Number(delivered) === logged ? '' : wrongCount,
      isDeepStrictEqual(dropped, {}) ? '' : wrongDrops,
    ].filter((problem) => problem !== '');
  });
}
