// Writes proposals as a catalogue file: for existing endpoints their rows and the proposed one, for new models the whole row.
import { stringify } from 'yaml';
import { toText } from './decimal.mjs';

const VENDORS = { mistral: 'mistralai' };
/** Their upstream names have a vendor of their own. */
const HOSTS = new Set(['deepinfra', 'together']);

/** The text that confirms a proposal: every change, so that another value needs another confirmation. */
export function summaryOf({ key, changes }) {
  return `${key}: ${changes.map(({ member, values }) => `${member} ${valueText(values)}`).join(', ')}`;
}

export function writeProposals(proposals, today) {
  return stringify(documentOf(proposals, today));
}

/** In the format of docs/catalogue.example.yaml. */
export function documentOf(proposals, today) {
  const chats = new Map();
  const embeddings = new Map();
  for (const proposal of proposals) {
    const isEmbedding = proposal.endpoint?.kind === 'models';
    const models = isEmbedding ? embeddings : chats;
    const model = models.get(idOf(proposal)) ?? {
      ...(proposal.endpoint ? {} : newModel(proposal, today)),
      endpoints: [],
    };
    model.endpoints.push(endpointOf(proposal, today));
    models.set(idOf(proposal), model);
  }
  const listed = (models) => [...models].map(([id, model]) => Object.assign({ id }, model));
  return {
    ...(embeddings.size > 0 && { models: listed(embeddings) }),
    ...(chats.size > 0 && { chat_models: listed(chats) }),
  };
}

export function idOf({ id, key, offer }) {
  if (id !== undefined) return id;
  const [provider] = key.split(' ');
  return HOSTS.has(provider) ? offer.model.toLowerCase() : `${VENDORS[provider] ?? provider}/${offer.model}`;
}

function newModel({ offer: { released, contextLength } }, today) {
  return {
    created_at: released ?? today,
    ...(contextLength !== undefined && { context_length: contextLength }),
  };
}

function endpointOf({ key, endpoint, offer, stated, changes }, today) {
  const [provider, model] = key.split(' ');
  const source = `${stated.map(({ list }) => list).join(', ')}, read ${today}`;
  const changed = numbersOf(changes.map(({ member, values }) => [member, values[0].value]));
  if (!endpoint)
    return {
      provider,
      upstream_model: model,
      ...(offer.maxOutputTokens !== undefined && { max_output_tokens: offer.maxOutputTokens }),
      prices: [{ effective_from: today, source, usd_per_million_tokens: changed, ...tiersOf(stated) }],
    };
  const last = endpoint.written
    .toSorted((one, other) => (one.effective_from < other.effective_from ? -1 : 1))
    .at(-1);
  const prices =
    endpoint.kind === 'models' ? changed.prompt : { ...last?.usd_per_million_tokens, ...changed };
  const row = { ...last, effective_from: today, source, usd_per_million_tokens: prices };
  return {
    provider,
    ...(endpoint.tag !== undefined && { tag: endpoint.tag }),
    prices: [...endpoint.written.filter(({ effective_from: from }) => from !== today), row],
  };
}

/** A list with days has the vendor's boundary; those of others are a person's to judge, with the row in hand. */
function tiersOf(stated) {
  const row = stated.map((statement) => statement.row).find(({ tiers }) => tiers.length > 0);
  if (!row) return {};
  return {
    tiers: row.tiers.map(({ above, amounts }) => ({
      min_prompt_tokens: above,
      usd_per_million_tokens: numbersOf(Object.entries(amounts)),
    })),
  };
}

function numbersOf(prices) {
  return Object.fromEntries(prices.map(([name, value]) => [name, Number(toText(value))]));
}

function valueText(values) {
  const distinct = [...new Set(values.map(({ value }) => toText(value)))];
  return distinct.length === 1
    ? distinct[0]
    : values.map(({ list, value }) => `${toText(value)} (${list})`).join(' or ');
}
