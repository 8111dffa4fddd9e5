import { expect, it } from '@jest/globals';
import { JsonDocument } from './json-document.js';
import { JsonShape } from './json-shape.js';

const SHAPE = new JsonShape(['error']);
const document = new JsonDocument(Error);
function read(text: string) {
  const bytes = Buffer.from(text);
  return document.read(bytes, 0, bytes.length, SHAPE);
}

it.each(['[]', '{}'])('%s has no member of the document that was read before it', (empty) => {
  read(
    empty === '[]'
      ? '[{"error":{"message":"of another answer"}}]'
      : '{"error":{"message":"of another answer"}}',
  );
  const node = read(empty)!;
  expect(node.child(0)).toBeNull();
  expect(node.nameAt(0)).toBeNull();
  expect([node.fromOf(0), node.toOf(0), node.firstByte(0)]).toEqual([-1, -1, -1]);
  expect(node.value(0)).toBeUndefined();
});
