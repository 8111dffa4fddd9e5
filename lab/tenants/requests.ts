// Bodies and calls that several experiments make.
import { answerLikeOpenAi, patternVector, sendJson } from '../../test/support/upstreams/stub-upstream.js';
import type { ReceivedRequest, StubHandler } from '../../test/support/upstreams/stub-upstream.js';
import type { ServerResponse } from 'node:http';
import type { Answer, TenantLab } from './tenant-lab.js';

export const PRICED_MODEL = 'openai/text-embedding-3-small';
export const FREE_MODEL = 'local/hashing';
/** USD a token of PRICED_MODEL. */
export const PRICE = 0.02 / 1_000_000;
/** Five words, five tokens. */
export const FIVE_TOKENS = 'one two three four five';

export function embed(
  lab: TenantLab,
  key: string,
  body: object,
  options: { readonly timeout?: number; readonly headers?: Readonly<Record<string, string>> } = {},
): Promise<Answer> {
  return lab.call('POST', '/embeddings', {
    key,
    body: { model: PRICED_MODEL, dimensions: 8, ...body },
    ...options,
  });
}

/** A key of the lab's account, or of the attacker's. */
export async function createKey(
  lab: TenantLab,
  settings: object,
  managementKey: string = lab.keys.managementKey,
): Promise<{ readonly key: string; readonly hash: string }> {
  const { status, text } = await lab.call('POST', '/keys', {
    key: managementKey,
    body: { name: 'Experiment', ...settings },
  });
  if (status !== 201) throw new Error(`POST /keys: ${status} ${text.slice(0, 200)}`);
  const { key, data } = JSON.parse(text) as {
    readonly key: string;
    readonly data: { readonly hash: string };
  };
  return { key, hash: data.hash };
}

export async function createWorkspace(lab: TenantLab, name: string, managementKey?: string): Promise<string> {
  const { status, text } = await lab.call('POST', '/workspaces', {
    key: managementKey ?? lab.keys.managementKey,
    body: { name, slug: name },
  });
  if (status !== 201) throw new Error(`POST /workspaces: ${status} ${text.slice(0, 200)}`);
  return (JSON.parse(text) as { readonly data: { readonly id: string } }).data.id;
}

export async function spentOf(lab: TenantLab, hash: string): Promise<number> {
  const { status, text } = await lab.call('GET', `/keys/${hash}`, { key: lab.keys.managementKey });
  if (status !== 200) throw new Error(`GET /keys: ${status}`);
  return (JSON.parse(text) as { readonly data: { readonly usage: number } }).data.usage;
}

/** How many of the answers have each status: `12 x 200, 3 x 402`. */
export function statusesOf(answers: readonly { readonly status: number }[]): string {
  const counts = new Map<number, number>();
  for (const { status } of answers) counts.set(status, (counts.get(status) ?? 0) + 1);
  return [...counts]
    .sort(([one], [other]) => one - other)
    .map(([status, count]) => `${count} x ${status === 0 ? 'no answer' : status}`)
    .join(', ');
}

/** The same of the figures of an attack. */
export function statusesIn(figures: Readonly<Record<string, number>>): string {
  return Object.entries(figures)
    .filter(([name]) => name.startsWith('status ') || name === 'broken' || name === 'unanswered')
    .map(([name, count]) => `${count} x ${name.replace('status ', '')}`)
    .join(', ');
}

/** Right vectors, and any usage. */
export function answerWithUsage(tokensOf: (inputs: readonly unknown[]) => number): StubHandler {
  return (request, response) => answerEmbeddings(request, response, tokensOf);
}

function answerEmbeddings(
  request: ReceivedRequest,
  response: ServerResponse,
  tokensOf: (inputs: readonly unknown[]) => number,
): void {
  const { input, dimensions, model } = request.body;
  if (typeof dimensions !== 'number') {
    answerLikeOpenAi(request, response);
    return;
  }
  const inputs: readonly unknown[] = Array.isArray(input) ? input : [input];
  const tokens = tokensOf(inputs);
  sendJson(response, 200, {
    object: 'list',
    data: inputs.map((_item, index) => ({
      object: 'embedding',
      index,
      embedding: patternVector(index, dimensions),
    })),
    model,
    usage: { prompt_tokens: tokens, total_tokens: tokens },
  });
}

/** Letters in no order that a regular expression could foresee. */
export function noise(random: () => number, length: number): string {
  return Array.from({ length }, () => (random() < 0.5 ? 'a' : 'b')).join('');
}

/** A JSON object of so many members, as text; `prefix` and `suffix` are around it. */
export function objectOfMembers(count: number): string {
  return `{${Array.from({ length: count }, (_value, index) => `"m${index}":1`).join(',')}}`;
}

/** Regular expressions in 1,000 characters that become a million instructions each. */
export function bombRule(field: string, index = 0): object {
  const body = 'b?'.repeat(485);
  return { field, operator: 'regex', value: `(?:a${body}${String.fromCodePoint(97 + (index % 26))}){1000}` };
}

/** A rule that is dear for every text: no literal to look for first, and a new state with every letter. */
export function dearRule(field: string, repeats: number): object {
  return { field, operator: 'regex', value: `(?i)a[ab]{${repeats}}\\bc` };
}

export function webhook(url: string, extra: object = {}): object {
  return { type: 'webhook', name: 'Experiment', config: { url }, ...extra };
}
