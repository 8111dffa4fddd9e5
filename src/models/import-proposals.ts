// Reads the proposals of an import, and says why one cannot be applied.
import type { CatalogueLayer } from '../routing/catalogue-layers.js';
import { tagOf } from '../routing/catalogue-layers.js';
import { Cursor } from '../catalogue/reader/cursor.js';
import { KINDS } from '../catalogue/reader/kinds.js';
import { PROPOSAL_GROUPS } from '../domain/catalogue-import.js';
import type { Proposal, ProposalChoice, ProposedPrice } from '../domain/catalogue-import.js';
import type { CatalogueEntry } from './catalogue-entries.js';

const TEXT = /^[^\p{Cc}]{1,500}$/u;
const LONG_TEXT = /^[^\p{Cc}]{1,2000}$/u;
const PRICE = /^\d{1,9}(?:\.\d{1,18})?$/;
/** Of an endpoint that the catalogue has, an import changes nothing else. */
const PRICE_MEMBERS = new Set(['provider', 'tag', 'upstream_model', 'prices']);

type Members = Readonly<Record<string, unknown>>;

/** Throws CatalogueError. */
export function readProposals(value: unknown): Proposal[] {
  return new Cursor({ name: '' }, value, ['proposals']).list().map(readProposal);
}

function readProposal(cursor: Cursor, number: number): Proposal {
  const members = cursor.object(
    'group kind id provider upstream_model prices holds summary choices'.split(' '),
  );
  return {
    number,
    group: members.read('group', (member) => member.choice(PROPOSAL_GROUPS)),
    kind: members.read('kind', (member) => member.choice(KINDS)),
    id: members.read('id', readText),
    provider: members.read('provider', readText),
    upstreamModel: members.read('upstream_model', readText),
    prices: members.read('prices', (member) => member.list().map(readPrice)),
    holds: members.read('holds', (member) => member.list().map(readHold)),
    summary: members.read('summary', (member) => member.text(LONG_TEXT, 'text in one line')),
    choices: members.read('choices', (member) => member.list().map(readChoice)),
  };
}

function readPrice(cursor: Cursor): ProposedPrice {
  const members = cursor.object(['member', 'own', 'values']);
  return {
    member: members.read('member', readText),
    own: members.read('own', (member) => (member.isNull() ? null : readDecimal(member))),
    values: members.read('values', (member) =>
      member.list().map((item) => {
        const value = item.object(['list', 'value']);
        return { list: value.read('list', readText), value: value.read('value', readDecimal) };
      }),
    ),
  };
}

function readHold(cursor: Cursor): Proposal['holds'][number] {
  const members = cursor.object(['reason', 'is_typed']);
  return {
    reason: members.read('reason', (member) => member.text(LONG_TEXT, 'text in one line')),
    isTyped: members.read('is_typed', (member) => member.boolean()),
  };
}

function readChoice(cursor: Cursor): ProposalChoice {
  const members = cursor.object(['lists', 'model']);
  return {
    lists: members.read('lists', (member) => member.list().map(readText)),
    document: members.read('model', (member) => {
      member.object(['id', 'created_at', 'context_length', 'endpoints']);
      return member.plainValue as Members;
    }),
    problem: null,
  };
}

function readText(cursor: Cursor): string {
  return cursor.text(TEXT, 'text of 1 to 500 characters, in one line');
}

function readDecimal(cursor: Cursor): string {
  return cursor.text(PRICE, 'a decimal number as text');
}

/** Why the choice may not be applied over these layers; null: it may, if the reader takes it. */
export function choiceProblem(
  { id }: Proposal,
  { document }: ProposalChoice,
  entry: CatalogueEntry,
): string | null {
  if (document['id'] !== id) return `model.id: must be ${id}`;
  if (layerOf(entry, 'file')) return `CATALOGUE_FILE defines ${id}`;
  const known = endpointsIn(entry.merged.document);
  if (known.size > 0 && Object.keys(document).some((name) => name !== 'id' && name !== 'endpoints'))
    return `an import changes nothing but prices of ${id}`;
  const operated = endpointsIn(layerOf(entry, 'operator') ?? {});
  for (const [tag, endpoint] of endpointsIn(document)) {
    if (operated.get(tag)?.['prices'] !== undefined)
      return `the operator's own layer states the price of ${tag}`;
    const own = known.get(tag);
    if (!own) continue;
    const other = Object.keys(endpoint).find((name) => !PRICE_MEMBERS.has(name));
    if (other !== undefined) return `an import does not change ${other} of ${tag}`;
    const name = endpoint['upstream_model'];
    if (name !== undefined && name !== own['upstream_model'])
      return `an import does not change upstream_model of ${tag}`;
  }
  return null;
}

/** Whether the prices that the proposal compares with are still in force. */
export function isCurrent(
  { provider, upstreamModel, prices }: Proposal,
  entry: CatalogueEntry,
  day: string,
): boolean {
  const endpoint = [...endpointsIn(entry.merged.document).values()].find(
    (candidate) => candidate['provider'] === provider && candidate['upstream_model'] === upstreamModel,
  );
  const amounts = amountsOn((endpoint?.['prices'] ?? []) as readonly Members[], day);
  return prices.every(({ member, own }) => {
    const now = amounts[member];
    return own === null ? now === undefined : now !== undefined && Number(now) === Number(own);
  });
}

/** An embedding has one price, without a name. */
function amountsOn(rows: readonly Members[], day: string): Members {
  const dayOf = ({ effective_from: from }: Members): string => (typeof from === 'string' ? from : '');
  const begun = rows.filter((row) => dayOf(row) <= day);
  const newest = begun.toSorted((one, other) => (dayOf(one) < dayOf(other) ? -1 : 1)).at(-1);
  const amounts = newest?.['usd_per_million_tokens'];
  if (amounts === undefined) return {};
  return typeof amounts === 'object' ? (amounts as Members) : { prompt: amounts };
}

function layerOf({ layers }: CatalogueEntry, name: CatalogueLayer['name']): Members | undefined {
  return layers.find((layer) => layer.name === name)?.document;
}

function endpointsIn({ endpoints }: Members): ReadonlyMap<string, Members> {
  const items = Array.isArray(endpoints) ? (endpoints as readonly Members[]) : [];
  return new Map(items.map((endpoint) => [tagOf(endpoint), endpoint]));
}
