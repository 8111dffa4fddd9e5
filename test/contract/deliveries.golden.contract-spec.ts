// The exact requests of every destination kind, as files to be read in review. UPDATE_GOLDEN=1 records a change on purpose.
import { describe, expect, it } from '@jest/globals';
import type { DeliveryRequest } from '../../src/destination-kinds/shared/delivery.js';
import { DESTINATION_KINDS } from '../../src/destination-kinds/index.js';
import { traceMetadata } from '../../src/destination-kinds/shared/trace-json.js';
import { attributesOf } from '../../src/destination-kinds/tables/json-columns.js';
import { generationTrace } from '../support/generation-trace.js';
import {
  GENERIC_KIND,
  goldenKinds,
  readGolden,
  readShared,
  writeGolden,
  writeShared,
} from '../support/golden/golden-files.js';
import { linesOf } from '../support/golden/json.js';
import type { Json } from '../support/golden/json.js';
import { fromReadable, toReadable } from '../support/golden/readable.js';
import { deliveringTo, encode } from '../support/receivers/deliver.js';
import { DESTINATION_RECEIVERS } from '../support/receivers/index.js';
import { TRACE_CASES } from '../support/trace-cases.js';

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
const IS_UPDATE = process.env['UPDATE_GOLDEN'] === '1';
const GENERIC_FIRST = DESTINATION_RECEIVERS.toSorted(
  (a, b) => Number(b.type === GENERIC_KIND) - Number(a.type === GENERIC_KIND),
);

const toJson = (value: unknown): Json => JSON.parse(JSON.stringify(value)) as Json;

/** The parts that requests of several kinds hold. */
const SHARED = Object.fromEntries(
  TRACES.flatMap((trace, index) => [
    [`metadata: ${SHOWN[index]}`, toJson(traceMetadata(trace))],
    [`attributes: ${SHOWN[index]}`, toJson(attributesOf(trace))],
  ]),
);

function plain({ method, url, headers, body }: DeliveryRequest): Json {
  return { method, url, headers: toJson(headers), body: body?.toString() ?? null };
}

describe('the golden requests', () => {
  it('share parts that are unchanged', async () => {
    const parts = toReadable(SHARED);
    if (IS_UPDATE) await writeShared(parts);
    expect(linesOf(parts)).toEqual(linesOf(await readShared()));
  });

  // The generic kind comes first: an update writes the others as differences from it.
  it.each(GENERIC_FIRST)('of $type are unchanged', async (receiver) => {
    const requests = (await encode(deliveringTo(receiver), TRACES)).map(plain);
    if (IS_UPDATE) await writeGolden(receiver.type, toReadable(requests));
    const golden = await readGolden(receiver.type);
    expect(linesOf(toReadable(requests))).toEqual(linesOf(golden));
    // The readable form loses no byte.
    expect(JSON.stringify(fromReadable(golden))).toBe(JSON.stringify(requests));
  });

  it('are those of the kinds, one file each', async () => {
    expect((await goldenKinds()).toSorted()).toEqual(DESTINATION_KINDS.map(({ type }) => type).toSorted());
  });
});
