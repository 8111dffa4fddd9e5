// The `provider` object of an embeddings request: a closed object, every member optional. Contract:
// docs/contract.md#provider-preferences.
import { IsString } from 'class-validator';
import { parseUsdPerMillion, parseUsdRoundedDown } from '../../domain/spend/money.js';
import { NO_PREFERENCES, QUANTIZATIONS, SORTS } from '../../domain/providers/provider-preferences.js';
import type {
  MaxPrices,
  PercentileBound,
  ProviderPreferences,
  Sort,
} from '../../domain/providers/provider-preferences.js';
import { isGiven, isObject } from '../../domain/members.js';
import { CustomField, ListField } from '../fields/compound-fields.js';
import { Rule } from '../fields/field.js';
import { EnumField, FlagField } from '../fields/scalar-fields.js';

const MAX_SLUGS = 100;
const PERCENTILES: readonly string[] = ['p50', 'p75', 'p90', 'p99'];
const PRICES: readonly string[] = ['prompt', 'completion', 'image', 'audio', 'request'];
type PercentileBoundDto = number | Readonly<Partial<Record<keyof PercentileBound, number | null>>>;

const PARTITIONS: ReadonlySet<unknown> = new Set(['model', 'none', undefined, null]);

const OPTIONAL = { optional: true, nullable: true } as const;

function SlugsField(description: string): PropertyDecorator {
  const rules = [IsString({ each: true, message: 'must hold provider slugs' })];
  return ListField(String, { ...OPTIONAL, hiddenMaxItems: MAX_SLUGS, rules, description });
}

/** An object of numbers, or a value in its stead. */
function CheckedField(
  description: string,
  message: string,
  isValid: (value: unknown) => boolean,
): PropertyDecorator {
  const schema = { type: 'object', additionalProperties: true };
  return CustomField(schema, { ...OPTIONAL, rules: [Rule('isValid', isValid, message)], description });
}

export class ProviderPreferencesDto {
  @SlugsField('Providers to try, in this order: by slug, by the tag of an endpoint, or by name.')
  order?: string[] | null;

  @SlugsField('The only providers that may serve.')
  only?: string[] | null;

  @SlugsField('Providers that must not serve.')
  ignore?: string[] | null;

  @FlagField({
    ...OPTIONAL,
    default: true,
    description:
      'False: only the first endpoint, or those listed in order, are tried, and their error is returned.',
  })
  allow_fallbacks?: boolean | null;

  @FlagField({
    ...OPTIONAL,
    default: false,
    description: 'Only endpoints that support every parameter of the request themselves.',
  })
  require_parameters?: boolean | null;

  @EnumField(['allow', 'deny', null], { ...OPTIONAL, default: 'allow' })
  data_collection?: 'allow' | 'deny' | null;

  @FlagField({ ...OPTIONAL, default: false, description: 'Only endpoints that retain no data.' })
  zdr?: boolean | null;

  @FlagField({
    ...OPTIONAL,
    default: false,
    description: 'For generated text; embeddings have none, so that every endpoint satisfies it.',
  })
  enforce_distillable_text?: boolean | null;

  @ListField(String, { ...OPTIONAL, values: QUANTIZATIONS, hiddenMaxItems: MAX_SLUGS })
  quantizations?: string[] | null;

  @CheckedField(
    `One of ${SORTS.join(', ')}, or {by, partition}.`,
    `must be one of ${SORTS.join(', ')}, or an object with by and partition`,
    (value) => isSort(value) || (isObjectOf(value, ['by', 'partition']) && isSortObject(value)),
  )
  sort?: Sort | { by?: Sort | null; partition?: 'model' | 'none' | null } | null;

  @CheckedField(
    'USD for a million tokens; numbers or decimal strings. `prompt` bounds the price of all input tokens, `image` and ' +
      '`audio` also bound the price of their tokens. For chat `request` and `image` are USD for one; embeddings have no ' +
      '`completion` and no `request`.',
    `must be an object of amounts named ${PRICES.join(', ')}`,
    (value) => isObjectOf(value, PRICES) && Object.values(value).every(isAmountOrNull),
  )
  max_price?: Readonly<
    Partial<Record<'prompt' | 'completion' | 'image' | 'audio' | 'request', string | number | null>>
  > | null;

  @CheckedField('Seconds, at p50 or at each percentile named.', percentileMessage(), isPercentileBound)
  preferred_max_latency?: PercentileBoundDto | null;

  @CheckedField(
    'Tokens a second, at p50 or at each percentile named.',
    percentileMessage(),
    isPercentileBound,
  )
  preferred_min_throughput?: PercentileBoundDto | null;
}

export function fromProviderPreferencesDto(dto: ProviderPreferencesDto | undefined): ProviderPreferences {
  if (!dto) return NO_PREFERENCES;
  return {
    order: dto.order ?? [],
    only: dto.only ?? [],
    ignore: dto.ignore ?? [],
    allowFallbacks: dto.allow_fallbacks ?? true,
    requireParameters: dto.require_parameters ?? false,
    denyDataCollection: dto.data_collection === 'deny',
    zeroDataRetention: dto.zdr ?? false,
    quantizations: dto.quantizations ?? [],
    sort: (typeof dto.sort === 'object' ? dto.sort?.by : dto.sort) ?? null,
    maxPrices: dto.max_price ? toPrices(dto.max_price) : null,
    preferredMaxLatency: toBound(dto.preferred_max_latency),
    preferredMinThroughput: toBound(dto.preferred_min_throughput),
  };
}

function toPrices({
  prompt,
  completion,
  image,
  audio,
  request,
}: NonNullable<ProviderPreferencesDto['max_price']>): MaxPrices {
  return {
    ...(isGiven(completion) && { completion: parseUsdPerMillion(completion) }),
    ...(isGiven(request) && { request: parseUsdRoundedDown(request) }),
    ...(isGiven(image) && { perImage: parseUsdRoundedDown(image) }),
    ...(isGiven(prompt) && { prompt: parseUsdPerMillion(prompt) }),
    ...(isGiven(image) && { image: parseUsdPerMillion(image) }),
    ...(isGiven(audio) && { audio: parseUsdPerMillion(audio) }),
  };
}

function toBound(bound: PercentileBoundDto | null | undefined): PercentileBound | null {
  if (typeof bound === 'number') return { p50: bound };
  const named = Object.entries(bound ?? {}).filter(([, value]) => value !== null);
  return named.length === 0 ? null : Object.fromEntries(named);
}

function percentileMessage(): string {
  return `must be a number, or an object of numbers named ${PERCENTILES.join(', ')}`;
}

function isPercentileBound(value: unknown): boolean {
  // The types of some clients make each percentile nullable.
  const isBound = (one: unknown): boolean => one === null || isPositive(one);
  return isPositive(value) || (isObjectOf(value, PERCENTILES) && Object.values(value).every(isBound));
}

function isPositive(value: unknown): boolean {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0;
}

function isSort(value: unknown): boolean {
  return SORTS.some((sort) => sort === value);
}

function isSortObject(value: Readonly<Record<string, unknown>>): boolean {
  return (
    (isSort(value['by']) || value['by'] === undefined || value['by'] === null) &&
    PARTITIONS.has(value['partition'])
  );
}

function isAmountOrNull(value: unknown): boolean {
  if (value === null) return true;
  if (typeof value !== 'string' && typeof value !== 'number') return false;
  try {
    return parseUsdPerMillion(value) >= 0n;
  } catch {
    return false;
  }
}

function isObjectOf(value: unknown, names: readonly string[]): value is Readonly<Record<string, unknown>> {
  return isObject(value) && Object.keys(value).every((name) => names.includes(name));
}
