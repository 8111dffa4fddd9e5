// Additions, removals and changes of weight keep the order.
import { expect, it } from '@jest/globals';
import * as fc from '../../../test/support/fast-check.js';
import { MaxHeap } from './max-heap.js';

interface Item {
  weight: number;
  heapIndex: number;
}

const steps = fc.array(
  fc.record({ deed: fc.constantFrom('add', 'change', 'remove'), which: fc.nat(50), weight: fc.nat(100) }),
  { maxLength: 200 },
);

it('keeps the heaviest member on top', () => {
  fc.assert(
    fc.property(steps, (deeds) => {
      const heap = new MaxHeap<Item>();
      const items: Item[] = [];
      for (const { deed, which, weight } of deeds) {
        const item = items[which % Math.max(1, items.length)];
        if (deed === 'add') {
          const added = { weight, heapIndex: -1 };
          items.push(added);
          heap.add(added);
        } else if (item && deed === 'change') {
          item.weight = weight;
          heap.update(item);
        } else if (item) {
          items.splice(items.indexOf(item), 1);
          heap.remove(item);
        }
        expect(heap.size).toBe(items.length);
        expect(heap.top?.weight).toBe(
          items.length === 0 ? undefined : Math.max(...items.map((one) => one.weight)),
        );
      }
    }),
  );
});
