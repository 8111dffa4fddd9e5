// Reads of an upstream end anywhere: the client's bytes and the state of the relay must not depend on where.
import { describe, expect, it } from '@jest/globals';
import * as fc from '../../../test/support/fast-check.js';
import { relayed } from '../../../test/support/chat/relay.js';
import { UPSTREAM_STREAMS } from '../../../test/support/chat/upstream-streams.js';

function* pieces(body: Buffer, cuts: readonly number[]): Generator<Buffer> {
  let from = 0;
  for (const cut of cuts) {
    yield Buffer.from(body.subarray(from, cut));
    from = cut;
  }
  yield Buffer.from(body.subarray(from));
}

describe.each(UPSTREAM_STREAMS)('$name', (stream) => {
  const whole = relayed(stream, [stream.body]);

  it('is the same when it is cut at any one byte', () => {
    for (let cut = 0; cut <= stream.body.length; cut++) {
      expect({ cut, ...relayed(stream, pieces(stream.body, [cut])) }).toEqual({ cut, ...whole });
    }
  });

  it('is the same when every byte comes alone', () => {
    const cuts = Array.from({ length: stream.body.length }, (_, index) => index);
    expect(relayed(stream, pieces(stream.body, cuts))).toEqual(whole);
  });

  it('is the same for any reads', () => {
    const cut = fc.nat(stream.body.length);
    fc.assert(
      fc.property(fc.array(cut, { maxLength: 40 }), (cuts) => {
        const sorted = cuts.sort((one, other) => one - other);
        expect(relayed(stream, pieces(stream.body, sorted))).toEqual(whole);
      }),
      { numRuns: 50 },
    );
  });
});
