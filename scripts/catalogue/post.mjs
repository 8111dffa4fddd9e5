// Compares with the catalogue of a running service, and leaves the proposals there (docs/contract.md#catalogue).
import { fetch } from 'undici';
import { toText } from './decimal.mjs';
import { ListError } from './read-list.mjs';
import { shippedOf } from './shipped.mjs';
import { documentOf, idOf, summaryOf } from './write.mjs';

const PAGE = 100;
/** Groups in which all lists state one price. */
const AGREED = ['new', 'cheaper', 'dearer'];
const TO_CHOOSE = ['lists disagree', 'one list'];
const NOTES = ['tiers', 'future', 'remove'];

/** The endpoints in force, by provider and upstream name. */
export async function readService(service) {
  const documents = [];
  for (const kind of ['models', 'chat_models'])
    for (let offset = 0, total = Infinity; offset < total; offset += PAGE) {
      const { data, total_count: count } = await ask(
        service,
        'GET',
        `/catalogue/models?kind=${kind}&offset=${offset}&limit=${PAGE}`,
      );
      total = count;
      documents.push({ [kind]: data.map(({ model }) => model) });
    }
  return shippedOf(documents);
}

/** The keys of the operator's account that used models which end, in lines; empty: none did. */
export async function readExpiring(service) {
  const { data } = await ask(service, 'GET', '/catalogue/expiring');
  const lines = [];
  for (const { id, expires_on: day, successor, keys } of data) {
    if (keys.length === 0) continue;
    lines.push(`  ${id} ends on ${day}${successor === null ? '' : `; successor: ${successor}`}\n`);
    for (const { name, label, requests, last_used_at: last } of keys)
      lines.push(`    ${JSON.stringify(name)} ${label}: ${requests} calls in 7 days, the last at ${last}\n`);
  }
  return lines.length === 0 ? '' : `\nKeys that use models which end:\n${lines.join('')}`;
}

/** Returns a sentence for the operator. */
export async function postProposals(service, proposals, lists, today) {
  const body = bodyOf(proposals, lists, today);
  if (body.proposals.length === 0) return 'The lists propose nothing: nothing was posted.';
  const { data } = await ask(service, 'POST', '/catalogue/imports', body);
  return `Posted ${data.proposals.length} proposals as import ${data.id}. None of them holds until a person applies it.`;
}

export function bodyOf(proposals, lists, today) {
  return {
    lists: lists.map(({ name }) => `${name}, read ${today}`),
    proposals: proposals
      .filter(({ group }) => [...AGREED, ...TO_CHOOSE, ...NOTES].includes(group))
      .map((proposal) => toWire(proposal, today)),
  };
}

function toWire(proposal, today) {
  const { group, key, endpoint, changes, holds, day } = proposal;
  const [provider, model] = key.split(' ');
  return {
    group,
    kind: endpoint?.kind ?? 'chat_models',
    id: idOf(proposal),
    provider,
    upstream_model: model,
    prices: changes.map(({ member, own, values }) => ({
      member,
      own: own === undefined ? null : toText(own),
      values: values.map(({ list, value }) => ({ list, value: toText(value) })),
    })),
    holds: holds.map(({ reason, isTyped }) => ({ reason, is_typed: isTyped })),
    summary: day === undefined ? summaryOf(proposal) : `${key}: ${group} from ${day}`,
    choices: choicesOf(proposal, today),
  };
}

/** Of lists that disagree, each has a choice of its own. */
function choicesOf(proposal, today) {
  const { group, stated } = proposal;
  if (AGREED.includes(group)) return [choiceOf(proposal, today)];
  return TO_CHOOSE.includes(group) ? stated.map(({ list }) => choiceOf(onlyOf(proposal, list), today)) : [];
}

function choiceOf(proposal, today) {
  const [[model]] = Object.values(documentOf([proposal], today));
  return { lists: proposal.stated.map(({ list }) => list), model };
}

function onlyOf(proposal, list) {
  const changes = proposal.changes.flatMap(({ values, ...change }) => {
    const own = values.filter((value) => value.list === list);
    return own.length === 0 ? [] : [{ ...change, values: own }];
  });
  return { ...proposal, stated: proposal.stated.filter((statement) => statement.list === list), changes };
}

async function ask({ url, key }, method, path, body) {
  if (!key) throw new ListError('--post: set SIGNALBOX_KEY to a management key of an operator account');
  const response = await fetch(`${url.replace(/\/+$/, '')}/api/v1${path}`, {
    method,
    redirect: 'error',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  }).catch((error) => {
    throw new ListError(`--post: ${url} cannot be reached: ${error.cause?.message ?? error.message}`);
  });
  const answer = await response.json().catch(() => ({}));
  if (!response.ok)
    throw new ListError(
      `--post: ${method} ${path} answered ${response.status}: ${answer.error?.message ?? ''}`,
    );
  return answer;
}
