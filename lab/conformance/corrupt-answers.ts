// Corrupts the vectors of an upstream's answer, on any wire: a gateway must detect it and never pass them on.
import type { StubReply } from '../../test/support/providers/provider-stub.js';

/** Too short for a vector, too long for any other text in an answer. */
const LEAST_NUMBERS = 64;
const BYTES_OF_A_NUMBER = 4;

interface FoundVector {
  readonly value: unknown[] | string;
  /** The list with one element for each input; null where the answer is for one input. */
  readonly list: unknown[] | null;
  replace(value: unknown[] | string): void;
}

export type Corruption = (vectors: readonly FoundVector[]) => void;

export const CORRUPTIONS = {
  'one too few': (vectors) => {
    for (const list of listsOf(vectors)) list.pop();
  },
  'one too many': (vectors) => {
    for (const list of listsOf(vectors)) list.push(structuredClone(list.at(-1)));
  },
  'one too narrow': (vectors) => {
    for (const vector of lastOfEachList(vectors)) {
      const { value } = vector;
      vector.replace(
        Array.isArray(value)
          ? value.slice(0, -1)
          : withBytes(value, (bytes) => bytes.subarray(BYTES_OF_A_NUMBER)),
      );
    }
  },
  // JSON writes NaN as null.
  'one not finite': (vectors) => {
    for (const vector of lastOfEachList(vectors)) {
      const { value } = vector;
      vector.replace(
        Array.isArray(value)
          ? value.with(0, null)
          : withBytes(value, (bytes) => {
              bytes.writeFloatLE(NaN);
              return bytes;
            }),
      );
    }
  },
} satisfies Readonly<Record<string, Corruption>>;

export function corrupt(reply: StubReply, corruption: Corruption): StubReply {
  const root = { body: structuredClone(reply.body) };
  const vectors = findVectors(root);
  if (vectors.length === 0) throw new Error('there is no vector in this answer');
  corruption(vectors);
  return { ...reply, body: root.body };
}

function findVectors(root: { body: unknown }): FoundVector[] {
  const found: FoundVector[] = [];
  const visit = (
    parent: Record<string | number, unknown>,
    key: string | number,
    list: unknown[] | null,
  ): void => {
    const value = parent[key];
    if (isVector(value)) {
      found.push({
        value,
        list,
        replace: (next) => {
          parent[key] = next;
        },
      });
    } else if (Array.isArray(value)) {
      for (const index of value.keys()) visit(value as unknown as Record<number, unknown>, index, value);
    } else if (typeof value === 'object' && value !== null) {
      for (const name of Object.keys(value)) visit(value as Record<string, unknown>, name, list);
    }
  };
  visit(root, 'body', null);
  return found;
}

function isVector(value: unknown): value is unknown[] | string {
  if (typeof value === 'string') {
    return value.length >= LEAST_NUMBERS * BYTES_OF_A_NUMBER && /^[A-Za-z0-9+/]+=*$/.test(value);
  }
  return (
    Array.isArray(value) && value.length >= LEAST_NUMBERS && value.every((item) => typeof item === 'number')
  );
}

function listsOf(vectors: readonly FoundVector[]): Set<unknown[]> {
  return new Set(vectors.flatMap(({ list }) => (list === null ? [] : [list])));
}

/** One wrong vector among right ones; for an answer for one input, all of its forms. */
function lastOfEachList(vectors: readonly FoundVector[]): readonly FoundVector[] {
  return vectors.filter(
    ({ list }, index) => list === null || !vectors.slice(index + 1).some((later) => later.list === list),
  );
}

function withBytes(base64: string, change: (bytes: Buffer) => Buffer): string {
  return change(Buffer.from(base64, 'base64')).toString('base64');
}
