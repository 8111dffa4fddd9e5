// The shipped models, member by member, are those of the catalogue that was written in TypeScript: the snapshot has one model a
// line, and prices as text. Delete both with the first change of a shipped model.
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { expect, it } from '@jest/globals';
import { loadCatalogueModels } from '../../src/routing/catalogue-source.js';

const SNAPSHOT = new URL('../support/catalogue/shipped-before.jsonl.gz', import.meta.url);
const before = gunzipSync(readFileSync(SNAPSHOT))
  .toString()
  .trim()
  .split('\n')
  .map((line): { readonly id: string } => JSON.parse(line));

const { models, chatModels } = loadCatalogueModels(undefined);
const served = [...models, ...chatModels];

it('ships the same models in the same order', () => {
  expect(served.map(({ id }) => id)).toEqual(before.map(({ id }) => id));
});

it.each(before.map((model, index) => [model.id, model, index] as const))(
  'ships %s with the same members',
  (_id, model, index) => {
    const text = JSON.stringify(served[index], (_name, value: unknown) =>
      typeof value === 'bigint' ? value.toString() : value,
    );
    expect(JSON.parse(text)).toEqual(model);
  },
);
