// `npm run keys:list`: lists the keys. It cannot show a secret: only hashes and labels are stored.
import { parseArgs } from 'node:util';
import type { ApiKey, ApiKeyWithSpend } from '../domain/keys/api-key.js';
import { formatUsd } from '../domain/spend/money.js';
import { spendTowardLimit } from '../domain/spend/spend.js';
import { withRepositories } from '../runtime/quickstart.js';
import { readId } from './read-id.js';

const MAX_LIMIT = 1_000;
const HELP = `Lists the API keys, newest first.

Usage: npm run keys:list -- [options]

  --account ID      only the keys of this account
  --workspace ID    only the keys of this workspace
  --management      only management keys
  --limit N         maximum number of keys, from 1 to ${MAX_LIMIT} (default: 50)
  --offset N        number of keys to skip (default: 0)
  --json            one JSON object a line instead of a table
  --help            this text
`;

/** Throws an Error with one line for the terminal. */
export async function run(argv: string[]): Promise<void> {
  const { values } = parseArgs({
    args: argv,
    options: {
      account: { type: 'string' },
      workspace: { type: 'string' },
      management: { type: 'boolean', default: false },
      limit: { type: 'string', default: '50' },
      offset: { type: 'string', default: '0' },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    process.stdout.write(HELP);
    return;
  }
  const limit = readInteger('--limit', values.limit, 1, MAX_LIMIT);
  const offset = readInteger('--offset', values.offset, 0, 1e9);
  const accountId = readId('--account', values.account);
  const workspaceId = readId('--workspace', values.workspace);
  const kind = values.management ? 'management' : undefined;
  const found = await withRepositories(process.env['DATABASE_URL'] ?? '', (_accounts, apiKeys) =>
    // One more row shows whether there is a next page.
    apiKeys.listForOperator({ accountId, workspaceId, kind, offset, limit: limit + 1 }),
  );
  const keys = found.slice(0, limit).map((key) => describe(key, new Date()));
  const lines = values.json ? keys.map((key) => JSON.stringify(key)) : toTable(keys);
  for (const line of lines) process.stdout.write(`${line}\n`);
  // Not on the standard output, which programs read line by line.
  if (found.length > limit) process.stderr.write(`There are more: --offset ${offset + limit}\n`);
}

/** The members of the API's record that operators need. Amounts are texts, so that they stay exact. */
function describe({ key, spend }: ApiKeyWithSpend, now: Date) {
  return {
    label: key.label,
    name: key.name,
    kind: key.kind,
    status: statusOf(key, now),
    limit: key.limit === null ? null : formatUsd(key.limit),
    limit_reset: key.limitReset,
    spent_toward_limit: formatUsd(spendTowardLimit(spend, key)),
    spent: formatUsd(spend.usage.total),
    spent_byok: formatUsd(spend.byok.total),
    expires_at: key.expiresAt?.toISOString() ?? null,
    created_at: key.createdAt.toISOString(),
    account_id: key.accountId,
    workspace_id: key.workspaceId,
    hash: key.hash,
  };
}

type Row = ReturnType<typeof describe>;

function statusOf({ disabled, expiresAt }: ApiKey, now: Date): 'active' | 'disabled' | 'expired' {
  if (disabled) return 'disabled';
  return expiresAt !== null && expiresAt <= now ? 'expired' : 'active';
}

const COLUMNS: readonly (readonly [title: string, cell: (row: Row) => string])[] = [
  ['LABEL', ({ label }) => label],
  ['NAME', ({ name }) => name],
  ['KIND', ({ kind }) => kind],
  ['STATUS', ({ status }) => status],
  ['LIMIT', ({ limit, limit_reset: reset }) => [limit ?? '-', reset].filter(Boolean).join(' ')],
  ['SPENT', ({ spent }) => spent],
  ['EXPIRES', ({ expires_at: expires }) => expires ?? '-'],
  ['ACCOUNT', ({ account_id: account }) => account],
  ['WORKSPACE', ({ workspace_id: workspace }) => workspace],
  ['HASH', ({ hash }) => hash],
];
const MAX_CELL = 64;

function toTable(rows: readonly Row[]): string[] {
  const cells = [
    COLUMNS.map(([title]) => title),
    ...rows.map((row) => COLUMNS.map(([, cell]) => printable(cell(row)))),
  ];
  const widths = COLUMNS.map((_column, index) => Math.max(...cells.map((line) => line[index]?.length ?? 0)));
  return cells.map((line) =>
    line
      .map((cell, index) => cell.padEnd(widths[index] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}

/** A name is a caller's text: control characters must not reach the terminal. */
function printable(text: string): string {
  return text.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, '?').slice(0, MAX_CELL);
}

function readInteger(option: string, text: string, least: number, most: number): number {
  const number = Number(text);
  if (!/^\d+$/.test(text) || number < least || number > most) {
    throw new Error(`${option} must be a whole number from ${least} to ${most}`);
  }
  return number;
}
