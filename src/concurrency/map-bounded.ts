// Maps over a list with a bound on how many are under way.

/**
 * Rejects with the failure that was first in time, and only when nothing is under way any more. From then on nothing more
 * is started, and `onFailure` is told at once, so that it can cut short what is still under way.
 */
export function mapBounded<Item>(
  items: readonly Item[],
  limit: number,
  work: (item: Item) => Promise<void>,
  onFailure: (failure: unknown) => void = () => undefined,
): Promise<void> {
  const [first] = items;
  // Most calls fit into one.
  if (items.length === 1 && first !== undefined) return work(first);
  return mapSeveral(items, limit, work, onFailure);
}

async function mapSeveral<Item>(
  items: readonly Item[],
  limit: number,
  work: (item: Item) => Promise<void>,
  onFailure: (failure: unknown) => void,
): Promise<void> {
  const queue = items.values();
  const failures: unknown[] = [];
  const worker = async (): Promise<void> => {
    for (const item of queue) {
      if (failures.length > 0) return;
      try {
        await work(item);
      } catch (error) {
        failures.push(error);
        onFailure(error);
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, worker));
  if (failures.length > 0) throw failures[0];
}
