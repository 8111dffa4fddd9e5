// The exact requests of every destination kind, as files to be read in review. A change on purpose is written down with
// UPDATE_GOLDEN=1.
import { describe, expect, it } from '@jest/globals';
import { readFile, readdir, writeFile } from 'node:fs/promises';
import type { DeliveryRequest } from '../../src/destination-kinds/shared/delivery.js';
import { DESTINATION_KINDS } from '../../src/destination-kinds/index.js';
import { generationTrace } from '../support/generation-trace.js';
import { deliveringTo, encode } from '../support/receivers/deliver.js';
import { DESTINATION_RECEIVERS } from '../support/receivers/index.js';
import { TRACE_CASES } from '../support/trace-cases.js';

const FOLDER = new URL('./golden/', import.meta.url);
const SHOWN = [
  'an ordinary one',
  'nothing known that may be unknown',
  'everything known that may be unknown',
  'a failure after two attempts',
  'token ids as input',
  'texts of all the world',
  'metadata of odd keys',
];
const TRACES = SHOWN.map((name, index) => generationTrace(index + 1, TRACE_CASES[name]));

const fileOf = (type: string): URL => new URL(`${type}.json`, FOLDER);

/** A request for people: its body as JSON where that loses nothing. */
function shown({ method, url, headers, body }: DeliveryRequest): object {
  const text = body?.toString() ?? null;
  return { method, url, headers, body: text === null ? null : (losslessJson(text) ?? text) };
}

function losslessJson(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return JSON.stringify(value) === text ? value : undefined;
  } catch {
    return undefined;
  }
}

async function write(file: URL, requests: readonly object[]): Promise<void> {
  const { format, resolveConfig } = await import('prettier');
  const options = await resolveConfig(file.pathname);
  await writeFile(file, await format(JSON.stringify(requests), { ...options, parser: 'json' }));
}

describe('the golden requests', () => {
  it.each(DESTINATION_RECEIVERS.map((receiver) => ({ type: receiver.type, receiver })))(
    'of $type are unchanged',
    async ({ type, receiver }) => {
      const requests = (await encode(deliveringTo(receiver), TRACES)).map(shown);
      if (process.env['UPDATE_GOLDEN'] === '1') await write(fileOf(type), requests);
      expect(requests).toEqual(JSON.parse(await readFile(fileOf(type), 'utf8')));
    },
  );

  it('are those of the kinds, one file each', async () => {
    const files = (await readdir(FOLDER)).map((name) => name.replace(/\.json$/, ''));
    expect(files.toSorted()).toEqual(DESTINATION_KINDS.map(({ type }) => type).toSorted());
  });
});
