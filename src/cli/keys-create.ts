// `npm run keys:create`: creates a key and prints it once.
import { parseArgs } from 'node:util';
import { createKeySecret, hashKeySecret } from '../domain/keys/api-key.js';
import { wholeAccount } from '../domain/people/manager.js';
import { parseUsd } from '../domain/spend/money.js';
import type { PicoUsd } from '../domain/spend/money.js';
import { LIMIT_RESETS } from '../domain/spend/spend.js';
import type { LimitReset } from '../domain/spend/spend.js';
import { withRepositories } from '../runtime/quickstart.js';
import { readId } from './read-id.js';

const HELP = `Creates an API key and prints it once; only its hash is stored.

Usage: npm run keys:create -- [options]

  --management            a management key instead of one for inference
  --name NAME             its name (default: "Created by command")
  --account ID            the account (default: the first one, created when there is none)
  --workspace ID          a workspace of the account (default: its default one, else the oldest one, else a new default
                          one)
  --limit USD             spending limit, for example 12.50 (default: none)
  --limit-reset WINDOW    daily, weekly or monthly (default: the limit is for the key's whole life)
  --embedding-cache       its embeddings calls use the cache (default: only those that request it)
  --help                  this text
`;

/** Throws an Error with one line for the terminal. */
export async function run(argv: string[]): Promise<void> {
  const { values } = parseArgs({
    args: argv,
    options: {
      management: { type: 'boolean', default: false },
      name: { type: 'string', default: 'Created by command' },
      account: { type: 'string' },
      workspace: { type: 'string' },
      limit: { type: 'string' },
      'limit-reset': { type: 'string' },
      'embedding-cache': { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    process.stdout.write(HELP);
    return;
  }
  const limit = readLimit(values.limit);
  const limitReset = readLimitReset(values['limit-reset']);
  const account = readId('--account', values.account);
  const workspace = readId('--workspace', values.workspace);
  const secret = createKeySecret();
  await withRepositories(process.env['DATABASE_URL'] ?? '', async (accounts, apiKeys) => {
    const accountId = account ?? (await accounts.findFirstId()) ?? (await accounts.create('Default')).id;
    await apiKeys.create({
      accountId,
      workspaceId:
        workspace === undefined
          ? await accounts.ensureWorkspace(accountId)
          : await accounts.chooseWorkspace(wholeAccount(accountId), workspace),
      kind: values.management ? 'management' : 'inference',
      name: values.name,
      secret,
      limit,
      limitReset,
      includeByokInLimit: false,
      embeddingCache: values['embedding-cache'],
      expiresAt: null,
      creatorUserId: null,
    });
  });
  process.stdout.write(`key:  ${secret}\nhash: ${hashKeySecret(secret)}\n`);
}

function readLimit(text: string | undefined): PicoUsd | null {
  if (text === undefined) return null;
  const limit = parseUsd(text);
  if (limit < 0n) throw new Error('--limit must not be negative');
  return limit;
}

function readLimitReset(text: string | undefined): LimitReset | null {
  if (text === undefined) return null;
  const found = LIMIT_RESETS.find((reset) => reset === text);
  if (!found) throw new Error(`--limit-reset must be one of ${LIMIT_RESETS.join(', ')}`);
  return found;
}
