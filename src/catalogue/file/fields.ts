// Reads the members of a catalogue file that models of every kind share.
import { parseUsdPerMillion } from '../../domain/spend/money.js';
import type { PicoUsd } from '../../domain/spend/money.js';
import type { DataPolicy } from '../../domain/data-policy.js';
import { QUANTIZATIONS } from '../../domain/embeddings/provider-preferences.js';
import { endpointTag } from '../catalogue-model.js';
import type { ModelEndpoint, NamedModel } from '../catalogue-model.js';
import { rejectSharedNames, withoutTakenNames } from '../model-names.js';
import type { YamlCursor, YamlObject } from '../yaml-cursor.js';

export const MOST = 1_000_000_000;

/** A slug or a tag with its provider's own slug; undefined for an unknown one. */
export type CanonicalTag = (tag: string) => string | undefined;

/** The shipped models with the changes of the file, then the models that it adds. */
export function readModels<Model extends NamedModel>(
  top: YamlObject,
  name: string,
  shipped: readonly Model[],
  readModel: (cursor: YamlCursor, known: ReadonlyMap<string, Model>) => Model,
): Model[] {
  const models = new Map(shipped.map((model) => [model.id, model]));
  const named = new Set<string>();
  top.optional(name, (list) => {
    for (const cursor of list.list()) {
      const model = readModel(cursor, models);
      if (named.has(model.id)) cursor.fail(`${model.id} appears in this file twice`);
      named.add(model.id);
      models.set(model.id, model);
    }
    rejectSharedNames(list, models, named);
  });
  return [...models.values()].map((model) => withoutTakenNames(model, models));
}

export function readEndpoints<Endpoint extends Pick<ModelEndpoint, 'provider' | 'tag'>>(
  cursor: YamlCursor,
  shipped: readonly Endpoint[],
  readEndpoint: (item: YamlCursor, known: ReadonlyMap<string, Endpoint>) => Endpoint,
): Endpoint[] {
  const items = cursor.list();
  if (items.length === 0) cursor.fail('must name at least one endpoint');
  const endpoints = new Map(shipped.map((endpoint) => [endpointTag(endpoint), endpoint]));
  const named = new Set<string>();
  for (const item of items) {
    const endpoint = readEndpoint(item, endpoints);
    const tag = endpointTag(endpoint);
    if (named.has(tag))
      item.fail(`${tag} appears here twice; give the endpoints of one provider different tags`);
    named.add(tag);
    endpoints.set(tag, endpoint);
  }
  return [...endpoints.values()];
}

export function readCount(cursor: YamlCursor): number {
  return cursor.integer(1, MOST);
}

export function readFlag(cursor: YamlCursor): boolean {
  return cursor.boolean();
}

export function readQuantization(cursor: YamlCursor): string | null {
  return cursor.isNull() ? null : cursor.choice(QUANTIZATIONS);
}

/** Rows of prices, of which no two begin on one day. */
export function readDatedRows<Row extends { readonly effectiveFrom: string }>(
  cursor: YamlCursor,
  readRow: (item: YamlCursor) => Row,
): Row[] {
  const days = new Set<string>();
  return cursor.list().map((item) => {
    const row = readRow(item);
    if (days.has(row.effectiveFrom)) item.fail(`there are two prices from ${row.effectiveFrom} on`);
    days.add(row.effectiveFrom);
    return row;
  });
}

export function readPricePerToken(cursor: YamlCursor): PicoUsd {
  const written = cursor.decimal();
  // The price of one token must be a whole number of the unit of money.
  if (/\.\d{6}\d*[1-9]/.test(written)) cursor.fail('must have at most 6 decimal places');
  return parseUsdPerMillion(written);
}

export function readDataPolicy(cursor: YamlCursor): DataPolicy {
  const policy = cursor.object(['retains_prompts', 'trains']);
  return {
    retainsPrompts: policy.read('retains_prompts', (member) => member.boolean()),
    trains: policy.read('trains', (member) => member.boolean()),
  };
}

export function readChoices<Value extends string>(values: readonly Value[]): (cursor: YamlCursor) => Value[] {
  return (cursor) => {
    const items = cursor.list();
    if (items.length === 0) cursor.fail(`must name at least one of ${values.join(', ')}`);
    return [...new Set(items.map((item) => item.choice(values)))];
  };
}

/** Preferences of a base slug match every variant, so a tag must begin with its provider's slug. */
export function readTag(cursor: YamlCursor, provider: string, canonicalTag: CanonicalTag): string {
  const written = cursor.text(/^[\w./-]{1,100}$/, 'letters, digits and ._/-, at most 100');
  const tag = canonicalTag(written) ?? written;
  const isRight = tag === provider || (tag.startsWith(`${provider}/`) && tag.length > provider.length + 1);
  return isRight ? tag : cursor.fail(`must be ${provider}, or ${provider}/ and a name`);
}

export function readId(cursor: YamlCursor): string {
  return cursor.text(/^[\w.-]{1,100}\/[\w.:-]{1,200}$/, 'of the form vendor/model');
}

export function readLabel(cursor: YamlCursor): string {
  return cursor.text(/^(?=.*\S)[^\p{Cc}]{1,500}$/u, 'text of 1 to 500 characters, in one line');
}

export function readDay(cursor: YamlCursor): string {
  const day = cursor.text(/^\d{4}-\d{2}-\d{2}$/, 'a day of the form YYYY-MM-DD');
  const moment = new Date(`${day}T00:00:00Z`);
  const isDay = !Number.isNaN(moment.getTime()) && moment.toISOString().startsWith(day);
  return isDay ? day : cursor.fail('must be a day of the calendar');
}

/** Without the member where the file and the shipped model have none. */
export function given<Name extends string, Value>(
  name: Name,
  value: Value | undefined,
): { readonly [Member in Name]?: Value } {
  return (value === undefined ? {} : { [name]: value }) as { readonly [Member in Name]?: Value };
}
