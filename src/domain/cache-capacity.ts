// The capacity of LRU caches that seldom fill.

interface CacheCapacity {
  readonly maxSize: number;
  readonly sizeCalculation: () => number;
}

/**
 * Options of an LRUCache that holds so many entries and allocates as it fills. `max` allocates at once: 25 ms of
 * processor time and 3 MB for 100,000 entries.
 */
export function capacityFor(entries: number): CacheCapacity {
  return { maxSize: entries, sizeCalculation: () => 1 };
}
