// Reads the prices of unlisted chat models.
import type { DataPolicy } from '../../domain/providers/provider.js';
import type { UnlistedRule } from '../unlisted-rule.js';
import { CHAT_ENDPOINT_MEMBERS, readChatEndpoint } from './chat-models.js';
import type { Cursor } from './cursor.js';
import { given, itemsOf, readCount, readDataPolicy, readFlag, readLabel, SHARED_MEMBERS } from './members.js';
import type { EndpointRules, KnownModels } from './members.js';

const MAX_PATTERNS = 50;
const UNKNOWN_POLICY: DataPolicy = { retainsPrompts: true, trains: true };

export function readUnlistedRule(
  cursor: Cursor,
  known: KnownModels<UnlistedRule>,
  rules: EndpointRules,
): UnlistedRule {
  const own = cursor.object([
    'id',
    'name',
    'match',
    'disabled',
    'provider',
    'prices',
    ...CHAT_ENDPOINT_MEMBERS,
    ...SHARED_MEMBERS,
  ]);
  const id = own.read('id', readRuleId);
  const below = known.get(id);
  const base = below && { ...below.template, upstreamModel: '' };
  const provider = own.read(
    'provider',
    (member) => member.choice(rules.providers, rules.canonicalTag),
    base?.provider,
  );
  if (base && provider !== base.provider) cursor.fail(`provider: ${id} is a rule of ${base.provider}`);
  const contextLength = own.read('context_length', readCount, base?.contextLength);
  const { upstreamModel: _none, ...template } = readChatEndpoint(
    {
      item: cursor,
      members: base ? own : own.over(rules.defaults.get(provider)),
      base,
      shared: {
        provider,
        upstreamModel: '',
        quantization: null,
        // That of the provider's listed models is not that of all models.
        dataPolicy: own.read('data_policy', readDataPolicy, base?.dataPolicy ?? UNKNOWN_POLICY),
      },
    },
    contextLength,
    [],
    rules,
  );
  if (template.prices.length === 0) cursor.fail('prices: must have at least one row');
  if (template.prices.some(({ prompt, completion }) => prompt === 0n || completion === 0n))
    cursor.fail('prices: must be above 0, because calls of unlisted models are never free');
  return {
    ...below,
    id,
    name: own.read('name', readLabel, below?.name ?? id),
    match: own.read('match', readPatterns, below?.match),
    ...given('disabled', own.optional('disabled', readFlag)),
    template: { ...template, hasCeiling: true },
    endpoints: [],
  };
}

function readRuleId(cursor: Cursor): string {
  return cursor.text(/^unlisted\/[\w.-]{1,100}$/, 'of the form unlisted/name');
}

function readPatterns(cursor: Cursor): string[] {
  const items = itemsOf(cursor);
  if (items.length === 0 || items.length > MAX_PATTERNS)
    cursor.fail(`must have 1 to ${MAX_PATTERNS} patterns`);
  return items.map((item) =>
    item.text(/^[\w.:@/+*-]{1,200}$/, 'a name of the provider, with * for any characters'),
  );
}
