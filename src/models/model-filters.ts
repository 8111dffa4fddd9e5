// Which models a list contains, and in what order (docs/contract.md#models).
import { idsOf } from '../catalogue/catalogue-model.js';
import type { PicoUsd } from '../domain/spend/money.js';
import { parseUsdPerMillion } from '../domain/spend/money.js';
import { utcDay } from '../domain/spend/spend.js';
import { providerSlugOf } from '../providers/index.js';
import type { ModelCountQueryDto, ModelSort } from './dto/models-query.dto.js';
import {
  createdAt,
  inputModalities,
  lowestPrice,
  outputModalities,
  supportedParameters,
} from './listed-model.js';
import type { ListedModel } from './listed-model.js';

const DAY_SECONDS = 86_400;

/** The measured speed of a model's best endpoint; null without measurements. */
export interface ModelSpeed {
  /** Seconds. */
  readonly latency: number | null;
  /** Tokens a second. */
  readonly throughput: number | null;
}

export interface FilterContext {
  readonly now: Date;
  readonly speedOf: (model: ListedModel) => ModelSpeed;
}

type Filters = Omit<ModelCountQueryDto, 'configured'>;

/** An empty value filters nothing. */
export function filterModels(
  models: readonly ListedModel[],
  filters: Filters,
  context: FilterContext,
): ListedModel[] {
  const rules = rulesOf(filters, context);
  const kept = models.filter((model) => rules.every((rule) => rule(model)));
  return filters.sort ? sorted(kept, filters.sort, context) : kept;
}

function rulesOf(filters: Filters, { now }: FilterContext): ((model: ListedModel) => boolean)[] {
  const { q, category, context, zdr, min_price, max_price, min_age_days, max_age_days } = filters;
  const day = utcDay(now);
  const priceOf = (model: ListedModel) => lowestPrice(model, day);
  const ageOf = (model: ListedModel) => now.getTime() / 1_000 - createdAt(model);
  return [
    includesAny(filters.output_modalities, outputModalities),
    includesAll(filters.input_modalities, inputModalities),
    includesAll(filters.supported_parameters, supportedParameters),
    includesAny(filters.providers, ({ endpoints }) => endpoints.map(({ provider }) => provider), slugOf),
    includesAny(filters.model_authors, ({ id, aliasTarget }) => [
      (aliasTarget?.id ?? id).split('/')[0] ?? '',
    ]),
    ...ifGiven(q, (text) => (model) => matchesText(model, text)),
    ...ifGiven(category, () => () => false),
    ...ifGiven(context, (least) => (model) => model.contextLength >= least),
    ...ifGiven(min_price, (least) => (model) => isAtLeast(priceOf(model), parseUsdPerMillion(least))),
    ...ifGiven(max_price, (most) => (model) => isAtMost(priceOf(model), parseUsdPerMillion(most))),
    ...ifGiven(min_age_days, (days) => (model) => ageOf(model) >= days * DAY_SECONDS),
    ...ifGiven(max_age_days, (days) => (model) => ageOf(model) <= days * DAY_SECONDS),
    ...(zdr ? [retainsNothing] : []),
  ];
}

function ifGiven<Value>(
  value: Value | undefined,
  ruleOf: (value: Value) => (model: ListedModel) => boolean,
): ((model: ListedModel) => boolean)[] {
  return value === undefined || value === '' ? [] : [ruleOf(value)];
}

function includesAny(
  list: string | undefined,
  valuesOf: (model: ListedModel) => readonly string[],
  toValue: (item: string) => string = (item) => item,
): (model: ListedModel) => boolean {
  const wanted = itemsOf(list).map(toValue);
  return (model) => wanted.length === 0 || valuesOf(model).some((value) => wanted.includes(value));
}

function includesAll(
  list: string | undefined,
  valuesOf: (model: ListedModel) => readonly string[],
): (model: ListedModel) => boolean {
  const wanted = itemsOf(list);
  return (model) => wanted.every((item) => valuesOf(model).includes(item));
}

/** None for `all`. */
function itemsOf(list = ''): string[] {
  if (list === 'all') return [];
  return list
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
}

function slugOf(name: string): string {
  return providerSlugOf(name) ?? name;
}

function matchesText(model: ListedModel, text: string): boolean {
  const wanted = text.toLowerCase();
  return [...idsOf(model), model.name].some((name) => name.toLowerCase().includes(wanted));
}

function isAtLeast(price: PicoUsd | null, least: PicoUsd): boolean {
  return price === null || price >= least;
}

function isAtMost(price: PicoUsd | null, most: PicoUsd): boolean {
  return price !== null && price <= most;
}

function retainsNothing({ endpoints }: ListedModel): boolean {
  return endpoints.some(({ dataPolicy }) => !dataPolicy.retainsPrompts && !dataPolicy.trains);
}

/** Models without a figure come last. */
function sorted(
  models: readonly ListedModel[],
  sort: ModelSort,
  { now, speedOf }: FilterContext,
): ListedModel[] {
  const day = utcDay(now);
  const priceOf = (model: ListedModel): number | null => {
    const price = lowestPrice(model, day);
    return price === null ? null : Number(price);
  };
  const negated = (value: number | null): number | null => (value === null ? null : -value);
  const ranks: Partial<Record<ModelSort, (model: ListedModel) => number | null>> = {
    'pricing-low-to-high': priceOf,
    'pricing-high-to-low': (model) => negated(priceOf(model)),
    'context-high-to-low': ({ contextLength }) => -contextLength,
    'latency-low-to-high': (model) => speedOf(model).latency,
    'throughput-high-to-low': (model) => negated(speedOf(model).throughput),
    newest: (model) => -createdAt(model),
  };
  const rank = ranks[sort];
  if (!rank) return [...models];
  const ranked = models.map((model) => ({ model, value: rank(model) ?? Number.MAX_VALUE }));
  return ranked.toSorted((one, other) => one.value - other.value).map(({ model }) => model);
}
