// The `provider` object of an embeddings request: a closed object, every member optional. Source: contract 4.4.
import { ApiPropertyOptional } from '@nestjs/swagger';
import { ArrayMaxSize, IsArray, IsBoolean, IsIn, IsString, ValidateBy } from 'class-validator';
import { parseUsdPerMillion } from '../../domain/spend/money.js';
import { NO_PREFERENCES, QUANTIZATIONS, SORTS } from '../../domain/embeddings/provider-preferences.js';
import type {
  MaxPrices,
  PercentileBound,
  ProviderPreferences,
  Sort,
} from '../../domain/embeddings/provider-preferences.js';
import { IfGivenAndNotNull } from '../../http/fields/optional-members.js';

const MAX_SLUGS = 100;
const PERCENTILES: readonly string[] = ['p50', 'p75', 'p90', 'p99'];
const PRICES: readonly string[] = ['prompt', 'completion', 'image', 'audio', 'request'];
type PercentileBoundDto = number | Readonly<Partial<Record<keyof PercentileBound, number | null>>>;

const PARTITIONS: ReadonlySet<unknown> = new Set(['model', 'none', undefined, null]);

function combine(...decorators: readonly PropertyDecorator[]): PropertyDecorator {
  return (target, name) => {
    for (const decorate of [IfGivenAndNotNull(), ...decorators]) decorate(target, name);
  };
}

function SlugList(description: string): PropertyDecorator {
  return combine(
    ApiPropertyOptional({ type: [String], nullable: true, description }),
    IsArray({ message: 'must be an array' }),
    ArrayMaxSize(MAX_SLUGS, { message: `must have at most ${MAX_SLUGS} elements` }),
    IsString({ each: true, message: 'must hold provider slugs' }),
  );
}

function Flag(description: string, byDefault: boolean): PropertyDecorator {
  return combine(
    ApiPropertyOptional({ type: Boolean, nullable: true, default: byDefault, description }),
    IsBoolean({ message: 'must be a boolean' }),
  );
}

function Checked(
  description: string,
  message: string,
  isRight: (value: unknown) => boolean,
): PropertyDecorator {
  return combine(
    ApiPropertyOptional({ type: 'object', additionalProperties: true, nullable: true, description }),
    ValidateBy({ name: 'checked', validator: { validate: isRight, defaultMessage: () => message } }),
  );
}

export class ProviderPreferencesDto {
  @SlugList('Providers to try, in this order: by slug, by the tag of an endpoint, or by name.')
  order?: string[] | null;

  @SlugList('The only providers that may serve.')
  only?: string[] | null;

  @SlugList('Providers that must not serve.')
  ignore?: string[] | null;

  @Flag(
    'False: only the first endpoint, or those listed in order, are tried, and their error is returned.',
    true,
  )
  allow_fallbacks?: boolean | null;

  @Flag('Only endpoints that do everything that was asked for themselves.', false)
  require_parameters?: boolean | null;

  @combine(
    ApiPropertyOptional({ enum: ['allow', 'deny'], nullable: true, default: 'allow' }),
    IsIn(['allow', 'deny'], { message: 'must be one of allow, deny' }),
  )
  data_collection?: 'allow' | 'deny' | null;

  @Flag('Only endpoints that keep nothing.', false)
  zdr?: boolean | null;

  @Flag('For generated text; embeddings have none, so that every endpoint satisfies it.', false)
  enforce_distillable_text?: boolean | null;

  @combine(
    ApiPropertyOptional({ type: [String], enum: QUANTIZATIONS, nullable: true }),
    IsArray({ message: 'must be an array' }),
    ArrayMaxSize(MAX_SLUGS, { message: `must have at most ${MAX_SLUGS} elements` }),
    IsIn(QUANTIZATIONS, { each: true, message: `must hold only ${QUANTIZATIONS.join(', ')}` }),
  )
  quantizations?: string[] | null;

  @Checked(
    `One of ${SORTS.join(', ')}, or {by, partition}.`,
    `must be one of ${SORTS.join(', ')}, or an object with by and partition`,
    (value) => isSort(value) || (isObjectOf(value, ['by', 'partition']) && isSortObject(value)),
  )
  sort?: Sort | { by?: Sort | null; partition?: 'model' | 'none' | null } | null;

  @Checked(
    'USD for a million tokens; numbers or decimal strings. `prompt` bounds the price of all input tokens, `image` and `audio` ' +
      'those of images and audio besides; `completion` and `request` have no price here, and bound nothing.',
    `must be an object of amounts named ${PRICES.join(', ')}`,
    (value) => isObjectOf(value, PRICES) && Object.values(value).every(isAmount),
  )
  max_price?: Readonly<Partial<Record<'prompt' | 'image' | 'audio', string | number>>> | null;

  @Checked('Seconds, at p50 or at each percentile named.', percentileMessage(), isPercentileBound)
  preferred_max_latency?: PercentileBoundDto | null;

  @Checked('Tokens a second, at p50 or at each percentile named.', percentileMessage(), isPercentileBound)
  preferred_min_throughput?: PercentileBoundDto | null;
}

export function fromProviderPreferencesDto(
  dto: ProviderPreferencesDto | null | undefined,
): ProviderPreferences {
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

function toPrices({ prompt, image, audio }: NonNullable<ProviderPreferencesDto['max_price']>): MaxPrices {
  return {
    ...(prompt !== undefined && { prompt: parseUsdPerMillion(prompt) }),
    ...(image !== undefined && { image: parseUsdPerMillion(image) }),
    ...(audio !== undefined && { audio: parseUsdPerMillion(audio) }),
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
  // Clients whose types make each percentile nullable send them so.
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

function isAmount(value: unknown): boolean {
  if (typeof value !== 'string' && typeof value !== 'number') return false;
  try {
    return parseUsdPerMillion(value) >= 0n;
  } catch {
    return false;
  }
}

function isObjectOf(value: unknown, names: readonly string[]): value is Record<string, unknown> {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isObject && Object.keys(value).every((name) => names.includes(name));
}
