// Maps over a list with a limit of items in progress.
//
// Why not p-limit: a failure neither stops its queue nor waits for the items in progress, and clearQueue() leaves the
// promises of waiting items open for ever.

/**
 * Rejects with the failure that was first in time, once no item is in progress any more. After a failure no further item is
 * started, and `onFailure` is called at once, so that it can cancel the items in progress.
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
