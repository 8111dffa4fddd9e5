// The exact requests of every destination kind, as files to be read in review. UPDATE_GOLDEN=1 records a change on purpose.
import { describe, expect, it } from '@jest/globals';
import type { DeliveryRequest } from '../../src/destination-kinds/shared/delivery.js';
import { DESTINATION_KINDS } from '../../src/destination-kinds/index.js';
import { traceMetadata } from '../../src/destination-kinds/shared/trace-json.js';
import { attributesOf } from '../../src/destination-kinds/tables/json-columns.js';
import { GOLDEN_CHATS } from '../support/deliveries/chat-traces.js';
import { generationTrace } from '../support/deliveries/generation-trace.js';
import { RERANK_CASES } from '../support/deliveries/rerank-traces.js';
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
import { TRACE_CASES } from '../support/deliveries/trace-cases.js';

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
const CHATS = Object.values(GOLDEN_CHATS).map((overrides, index) => generationTrace(index + 1, overrides));
const RERANKS = Object.values(RERANK_CASES).map((overrides, index) => generationTrace(index + 1, overrides));
/** The documents of a kind: one an operation. */
const DOCUMENTS = [
  ['embeddings', TRACES, ''],
  ['chat', CHATS, '.chat'],
  ['rerank', RERANKS, '.rerank'],
] as const;
const IS_UPDATE = process.env['UPDATE_GOLDEN'] === '1';
const GENERIC_FIRST = DESTINATION_RECEIVERS.toSorted(
  (a, b) => Number(b.type === GENERIC_KIND) - Number(a.type === GENERIC_KIND),
).flatMap((receiver) =>
  DOCUMENTS.map(([operation, traces, suffix]) => ({
    type: receiver.type,
    operation,
    receiver,
    traces,
    document: `${receiver.type}${suffix}`,
  })),
);

const toJson = (value: unknown): Json => JSON.parse(JSON.stringify(value)) as Json;

/** The parts that requests of several kinds hold. */
const SHARED = Object.fromEntries(
  [
    ...TRACES.map((trace, index) => [SHOWN[index], trace] as const),
    ...CHATS.map((trace, index) => [Object.keys(GOLDEN_CHATS)[index], trace] as const),
    ...RERANKS.map((trace, index) => [Object.keys(RERANK_CASES)[index], trace] as const),
  ].flatMap(([name, trace]) => [
    [`metadata: ${name}`, toJson(traceMetadata(trace))],
    [`attributes: ${name}`, toJson(attributesOf(trace))],
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
  it.each(GENERIC_FIRST)('of $operation to $type are unchanged', async ({ receiver, traces, document }) => {
    const requests = (await encode(deliveringTo(receiver), traces)).map(plain);
    if (IS_UPDATE) await writeGolden(document, toReadable(requests));
    const golden = await readGolden(document);
    expect(linesOf(toReadable(requests))).toEqual(linesOf(golden));
    // The readable form loses no byte.
    expect(JSON.stringify(fromReadable(golden))).toBe(JSON.stringify(requests));
  });

  it('are those of the kinds, one file an operation', async () => {
    const documents = DESTINATION_KINDS.flatMap(({ type }) => DOCUMENTS.map(([, , suffix]) => type + suffix));
    expect((await goldenKinds()).toSorted()).toEqual(documents.toSorted());
  });
});
