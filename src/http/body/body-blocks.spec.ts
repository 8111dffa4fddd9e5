// Memory of a body while it arrives, in pieces of any size.
import { expect, it } from '@jest/globals';
import { BodyBlocks } from './body-blocks.js';

it.each([[1], [7], [4_096], [30_000], [32_768], [100_000]])('joins pieces of %i bytes in order', (size) => {
  const body = Buffer.from(Array.from({ length: 300_000 }, (_none, index) => index % 251));
  const blocks = new BodyBlocks();
  for (let at = 0; at < body.length; at += size) blocks.add(body.subarray(at, at + size));
  expect(blocks.length).toBe(body.length);
  expect(blocks.join().equals(body)).toBe(true);
});

it('copies pieces of one byte into blocks, and counts the allocated bytes', () => {
  const blocks = new BodyBlocks();
  const before = process.memoryUsage();
  let counted = 0;
  for (let piece = 0; piece < 500_000; piece++) counted += blocks.add(Buffer.from('a'));
  expect(counted).toBeGreaterThanOrEqual(500_000);
  expect(counted).toBeLessThan(600_000);
  globalThis.gc?.();
  // Half a million buffer objects are 190 MB.
  expect(process.memoryUsage().arrayBuffers - before.arrayBuffers).toBeLessThan(50_000_000);
  expect(blocks.join().length).toBe(500_000);
});

it('allocates little for the start of a body', () => {
  expect(new BodyBlocks().add(Buffer.alloc(30))).toBeLessThanOrEqual(1_024);
});
