// A price row as the fields of a form, and back.
import type { Amount, CatalogueKind, PriceRow } from '../../../api/catalogue';
import type { FormValues } from '../../../components/form/form';
import { tokenPrices, TOKEN_PRICES } from './documents';

const TOKENS = 'usd_per_million_tokens';
const UNIT = 'usd_per_search_unit';
/** Of chats; rarer ones are further members. */
const CHAT_FIELDS = ['prompt', 'completion', 'cache_read', 'cache_write', 'cache_write_1h'] as const;
export const FURTHER = 'further';

/** The names of the fields: members of a row by path. */
export function amountFields(kind: CatalogueKind): readonly string[] {
  if (kind === 'chat_models') return CHAT_FIELDS.map((name) => `${TOKENS}.${name}`);
  return kind === 'rerank_models' ? [UNIT, `${TOKENS}.prompt`] : [TOKENS];
}

export const rowFields = (kind: CatalogueKind): readonly string[] => [
  'effective_from',
  'source',
  ...amountFields(kind),
  FURTHER,
];

const memberOf = (field: string): string => field.slice(TOKENS.length + 1);

/** The text of a field; undefined: the row has no such amount. */
export function amountText(row: PriceRow | undefined, field: string): string | undefined {
  if (row === undefined) return undefined;
  const amount = field.startsWith(TOKENS)
    ? tokenPrices(row)[memberOf(field) || 'prompt']
    : (row[field] as Amount);
  return amount === undefined ? undefined : String(amount);
}

/** Members without a field: tiers, service tiers, and prices that are rare. */
export function furtherText(row: PriceRow | undefined, kind: CatalogueKind): string {
  if (row === undefined) return '';
  const { effective_from: _day, source: _source, ...members } = row;
  const fields = amountFields(kind);
  const rare = Object.entries(tokenPrices(row)).filter(([name]) => !fields.includes(`${TOKENS}.${name}`));
  const others = Object.entries(members).filter(([name]) => name !== TOKENS && !fields.includes(name));
  const further = {
    ...Object.fromEntries(others),
    ...(kind === 'models' || rare.length === 0 ? {} : { [TOKENS]: Object.fromEntries(rare) }),
  };
  return Object.keys(further).length === 0 ? '' : JSON.stringify(further, null, 2);
}

/** Throws where the further members are no JSON object. */
export function readRow(values: FormValues, kind: CatalogueKind): PriceRow {
  const further = readObject(values.text(FURTHER));
  const tokens: Record<string, unknown> = { ...(further[TOKENS] as object | undefined) };
  const members: Record<string, unknown> = { ...further };
  for (const field of amountFields(kind)) {
    const amount = values.textOrNull(field);
    if (amount === null) continue;
    if (field === TOKENS) members[TOKENS] = amount;
    else if (field.startsWith(TOKENS)) tokens[memberOf(field)] = amount;
    else members[field] = amount;
  }
  if (Object.keys(tokens).length > 0) members[TOKENS] = inOrder(tokens);
  return { effective_from: values.text('effective_from'), source: values.text('source'), ...members };
}

const inOrder = (tokens: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(
    Object.entries(tokens).toSorted(
      ([one], [other]) => TOKEN_PRICES.indexOf(one) - TOKEN_PRICES.indexOf(other),
    ),
  );

/** Empty text is no member. */
export function readObject(text: string): Readonly<Record<string, unknown>> {
  if (text.trim() === '') return {};
  const value: unknown = JSON.parse(text);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new SyntaxError('no object');
  return value as Readonly<Record<string, unknown>>;
}

/** Why the text cannot be sent; undefined: it can. */
export function problemOfObject(text: string): string | undefined {
  try {
    readObject(text);
    return undefined;
  } catch {
    return 'Must be a JSON object: {"member": value}';
  }
}
