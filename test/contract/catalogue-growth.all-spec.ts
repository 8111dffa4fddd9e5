// A catalogue of 5,000 models with four endpoints each: memory of a process, look-ups, and the cost of a change.
import { expect, it } from '@jest/globals';
import type { StoredEntry } from '../../src/catalogue/stored-entry.js';
import { CatalogueSource } from '../../src/routing/catalogue-source.js';
import { TestClock } from '../support/app/clock.js';
import { retainedMemory } from '../support/memory.js';

const FEW = 500;
const MANY = 5_000;
const ENDPOINTS = 4;
const MIB = 2 ** 20;
// Milliseconds of processor time: of one change, and of one look-up.
const CHANGE = 10;
const LOOK_UP = 0.01;
const CHANGES = 50;
const LOOK_UPS = 50_000;

const idOf = (number: number): string => `acme/model-${number}`;

function entryOf(number: number, version: number, price = 1): StoredEntry {
  const prices = [
    {
      effective_from: '2026-01-01',
      source: 'a test',
      usd_per_million_tokens: { prompt: price, completion: 2, cache_read: 0.1 },
    },
  ];
  const endpoints = Array.from({ length: ENDPOINTS }, (_endpoint, index) => ({
    provider: 'openai',
    tag: `openai/${index}`,
    upstream_model: `model-${number}`,
    prices,
  }));
  const document = { id: idOf(number), created_at: '2026-01-01', context_length: 100_000, endpoints };
  return { kind: 'chat_models', id: idOf(number), version, documents: { operator: document } };
}

function apply(source: CatalogueSource, entries: readonly StoredEntry[]): void {
  const { layers } = source;
  const reading = layers.read(entries);
  let step = reading.next();
  while (step.done !== true) step = reading.next();
  source.apply(layers.plan(entries.at(-1)?.version ?? 0, step.value));
}

function sourceOf(count: number): CatalogueSource {
  const source = new CatalogueSource(undefined, new TestClock());
  const numbers = Array.from({ length: count }, (_entry, number) => number);
  apply(
    source,
    numbers.map((number) => entryOf(number, number + 1)),
  );
  return source;
}

/** Milliseconds of the process for each of `count` runs. */
function costOf(count: number, run: (index: number) => void): number {
  const before = process.cpuUsage();
  for (let index = 0; index < count; index++) run(index);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000 / count;
}

it('5,000 models cost memory, and neither look-ups nor changes cost more with them', () => {
  sourceOf(1);
  const before = retainedMemory();
  let source: CatalogueSource | undefined;
  const load = costOf(1, () => {
    source = sourceOf(MANY);
  });
  const memory = (retainedMemory() - before) / MIB;
  const few = sourceOf(FEW);
  const find = (catalogues: CatalogueSource, count: number): number =>
    costOf(LOOK_UPS, (index) => catalogues.chatCatalogue.find(idOf(index % count)));
  const change = (catalogues: CatalogueSource, count: number): number =>
    costOf(CHANGES, (index) => apply(catalogues, [entryOf(index, count + index + 1, 3)]));
  find(few, FEW);
  change(few, FEW);
  const figures = {
    memory,
    load,
    lookUp: find(source!, MANY),
    change: change(source!, MANY),
    changeOfFew: change(few, FEW),
  };
  console.log(JSON.stringify(figures));
  expect(source!.chatCatalogue.find(idOf(0))?.model.endpoints[0]?.prices[0]?.prompt).toBe(3_000_000n);
  expect(figures.memory).toBeLessThan(40);
  expect(figures.lookUp).toBeLessThan(LOOK_UP);
  expect(figures.change).toBeLessThan(CHANGE);
});
