import { describe, expect, it } from '@jest/globals';
import { HistoryParameters } from './history-statements.js';

const MAX_FIELD_BYTES = 131_072;

/** The elements of all parameters, in their order. */
const elementsOf = ({ values }: HistoryParameters): string[] =>
  Object.values(values).flatMap((value) => JSON.parse(value.replaceAll("'", '"')) as string[]);

describe('a list of parameters', () => {
  it('is one parameter while it is short, also when it is empty', () => {
    for (const texts of [[], ['one'], ['one', '']]) {
      const parameters = new HistoryParameters();
      expect(parameters.texts(texts)).toBe('arrayMap(digits -> unhex(digits), {p0:Array(String)})');
      expect(elementsOf(parameters)).toEqual(texts.map((text) => Buffer.from(text).toString('hex')));
    }
  });

  it.each([
    ['100 texts of 1,000 letters', Array.from({ length: 100 }, () => 'x'.repeat(1_000))],
    ['100 texts of 1,000 symbols', Array.from({ length: 100 }, () => '🙂'.repeat(1_000))],
    ['texts of any length', Array.from({ length: 2_000 }, (_one, index) => 'x'.repeat(index % 300))],
  ])('of %s has no parameter above the limit of the server', (_name, texts) => {
    const parameters = new HistoryParameters();
    const expression = parameters.texts(texts);
    const names = Object.keys(parameters.values);
    expect(names.length).toBeGreaterThan(1);
    for (const value of Object.values(parameters.values)) expect(value.length).toBeLessThan(MAX_FIELD_BYTES);
    expect(expression).toBe(
      `arrayMap(digits -> unhex(digits), arrayConcat(${names.map((name) => `{${name}:Array(String)}`).join(', ')}))`,
    );
    expect(elementsOf(parameters)).toEqual(texts.map((text) => Buffer.from(text).toString('hex')));
  });

  it('of the ids of 10,000 workspaces has no parameter above it', () => {
    const ids = Array.from(
      { length: 10_000 },
      (_one, index) => `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`,
    );
    const parameters = new HistoryParameters();
    expect(parameters.uuids(ids)).toBe(
      'arrayConcat({p0:Array(UUID)}, {p1:Array(UUID)}, {p2:Array(UUID)}, {p3:Array(UUID)})',
    );
    for (const value of Object.values(parameters.values)) expect(value.length).toBeLessThan(MAX_FIELD_BYTES);
    expect(elementsOf(parameters)).toEqual(ids);
  });
});
