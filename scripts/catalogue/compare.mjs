// Compares the shipped endpoints with lists: the findings are proposals for a person, never changes.
//
// A row of a list counts for an endpoint of the same provider and exactly the same upstream name. Nothing is derived: a price that a
// list does not state is unknown. Of an endpoint that exists, prices alone are proposed: never widths, aliases, names or data policies.
import { deprecationsOf, holdsOf } from './bounds.mjs';

const EMBEDDING = 'models';
// Its price and behaviour change by themselves (docs/catalogue.md#prices).
const MOVING_NAME = /(?:^|[-_.:/ ])latest$/i;

/** `lists`: of readList. `today`: YYYY-MM-DD. */
export function compare(shipped, lists, today) {
  const proposals = [];
  for (const [key, endpoint] of shipped) proposals.push(...changesOf(key, endpoint, lists, today));
  const unlisted = new Set(
    lists.flatMap(({ offers }) =>
      [...offers.keys()].filter((key) => !shipped.has(key) && !MOVING_NAME.test(key)),
    ),
  );
  const hosts = new Set(
    [...shipped.values()].flatMap(({ kind, provider }) => (kind === EMBEDDING ? [] : [provider])),
  );
  for (const key of unlisted) proposals.push(...additionsOf(key, hosts, lists, today));
  return proposals;
}

export function inForce(rows, day) {
  let newest = null;
  for (const row of rows)
    if ((row.from ?? '') <= day && (newest === null || (row.from ?? '') > (newest.from ?? ''))) newest = row;
  return newest;
}

function changesOf(key, endpoint, lists, today) {
  const stated = statementsOf(key, lists, today);
  const ours = inForce(endpoint.rows, today);
  if (stated.length === 0) {
    const isKnown = lists.some(({ offers }) =>
      [...offers.values()].some(({ provider }) => provider === endpoint.provider),
    );
    return isKnown ? [{ group: 'not listed', key, id: endpoint.id, stated, changes: [], holds: [] }] : [];
  }
  const dated = futureChanges(key, endpoint, lists, today);
  const changes = differencesOf(ours, stated).filter(
    ({ member }) => endpoint.kind !== EMBEDDING || member === 'prompt',
  );
  const proposal = { key, id: endpoint.id, endpoint, stated, changes };
  const holds = holdsOf(proposal, ours);
  if (changes.length > 0) return [{ ...proposal, group: groupOf(changes, stated), holds }, ...dated];
  const tiers = holds.filter(({ isOfTiers }) => isOfTiers);
  return tiers.length > 0 ? [{ ...proposal, group: 'tiers', holds: tiers }, ...dated] : dated;
}

/** Chat models of providers whose chat models we list. A new embedding has facts that no list proves: it is written by hand. */
function additionsOf(key, hosts, lists, today) {
  const stated = statementsOf(key, lists, today).filter(({ row }) => row.amounts.completion > 0n);
  if (stated.length === 0 || !hosts.has(key.split(' ')[0])) return [];
  const changes = differencesOf(null, stated);
  const offer = Object.assign({}, ...lists.map(({ offers }) => offers.get(key) ?? {}).toReversed());
  const proposal = { key, offer, stated, changes };
  // Of a new model, a single list is no more than a hint.
  const group = areProven(changes) ? 'new' : disagreementOf(changes, stated);
  return [{ ...proposal, group, holds: [...deprecationsOf(key, lists), ...holdsOf(proposal, null)] }];
}

/** The prices that each list states for an endpoint today. */
function statementsOf(key, lists, today) {
  return lists.flatMap(({ name, offers }) => {
    const row = inForce(offers.get(key)?.prices ?? [], today);
    return row && row.amounts.prompt !== undefined ? [{ list: name, row }] : [];
  });
}

function differencesOf(ours, stated) {
  const members = new Set(stated.flatMap(({ row }) => Object.keys(row.amounts)));
  const changes = [];
  for (const member of members) {
    const values = valuesOf(stated, member);
    const own = ours?.amounts[member];
    // An embedding's output costs nothing, and reasoning is output where a list gives no price of its own.
    if (own === undefined && values.every(({ value }) => isImplied(member, value, ours))) continue;
    if (values.some(({ value }) => value !== own)) changes.push({ member, own, values });
  }
  return changes;
}

function isImplied(member, value, ours) {
  if (ours === null) return false;
  if (member === 'reasoning') return value === ours.amounts.completion;
  return member === 'completion' && value === 0n;
}

function valuesOf(stated, member) {
  return stated.flatMap(({ list, row }) =>
    row.amounts[member] === undefined ? [] : [{ list, value: row.amounts[member] }],
  );
}

function groupOf(changes, stated) {
  if (!areProven(changes)) return disagreementOf(changes, stated);
  const rises = changes.some(({ own, values: [{ value }] }) => own !== undefined && value > own);
  return rises ? 'dearer' : 'cheaper';
}

function disagreementOf(changes, stated) {
  return stated.length === 1 || changes.every(({ values }) => values.length === 1)
    ? 'one list'
    : 'lists disagree';
}

/** Two lists or more state each price, and all that do agree. */
function areProven(changes) {
  return changes.every(
    ({ values }) => values.length >= 2 && values.every(({ value }) => value === values[0].value),
  );
}

/** Rows of a later day: those of a list that we lack, and ours that a list with days has dropped. */
function futureChanges(key, endpoint, lists, today) {
  const later = (rows) => rows.filter(({ from }) => from !== null && from > today);
  const proposals = [];
  for (const { name, isDated, offers } of lists) {
    const offer = offers.get(key);
    if (!isDated || !offer) continue;
    const theirs = later(offer.prices);
    const ours = later(endpoint.rows);
    const days = (rows) => rows.map(({ from }) => from);
    for (const row of theirs.filter(({ from }) => !days(ours).includes(from)))
      proposals.push({ group: 'future', key, id: endpoint.id, day: row.from, stated: [{ list: name, row }] });
    for (const row of ours.filter(({ from }) => !days(theirs).includes(from)))
      proposals.push({ group: 'remove', key, id: endpoint.id, day: row.from, stated: [{ list: name, row }] });
  }
  return proposals.map((proposal) => Object.assign(proposal, { changes: [], holds: [] }));
}
