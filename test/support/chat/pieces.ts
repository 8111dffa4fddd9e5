// Reads of a body that end at given places.
import { isDeepStrictEqual } from 'node:util';
import { expect } from '@jest/globals';
import { isEverything } from '../extent.js';
import * as fc from '../fast-check.js';
import { relayed } from './relay.js';
import type { UpstreamStream } from './upstream-streams.js';

export function* piecesOf(body: Buffer, cuts: readonly number[]): Generator<Buffer> {
  let from = 0;
  for (const cut of cuts) {
    yield Buffer.from(body.subarray(from, cut));
    from = cut;
  }
  yield Buffer.from(body.subarray(from));
}

/** Cut at every byte, at any one (a tenth of them in `npm test`), and at any places. */
export function expectSameWhereverCut(stream: UpstreamStream): void {
  const { body } = stream;
  const whole = relayed(stream, [body]);
  const expectSame = (cuts: readonly number[]): void => {
    const read = relayed(stream, piecesOf(body, cuts));
    if (!isDeepStrictEqual(read, whole)) expect({ cuts, ...read }).toEqual({ cuts, ...whole });
  };
  for (let cut = 0; cut <= body.length; cut += isEverything ? 1 : 10) expectSame([cut]);
  expectSame(Array.from({ length: body.length }, (_none, index) => index));
  fc.assert(
    fc.property(fc.array(fc.nat(body.length), { maxLength: 40 }), (cuts) =>
      expectSame(cuts.toSorted((one, other) => one - other)),
    ),
    { numRuns: 50 },
  );
}
