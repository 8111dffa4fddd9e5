// The rows of pages that were loaded one after another, while the list may have changed.

export interface RowPage<Row> {
  readonly data: readonly Row[];
  /** A page by offset: it begins with the last row of the former page, unless the list has changed in between. */
  readonly repeatsLast?: boolean;
}

export interface HeldRows<Row> {
  /** Each once. */
  readonly rows: readonly Row[];
  /** Rows may be shown that are gone, or missing. */
  readonly hasChanged: boolean;
}

export function joinPages<Row>(pages: readonly RowPage<Row>[], rowKey: (row: Row) => string): HeldRows<Row> {
  const rows = new Map<string, Row>();
  let last: string | undefined;
  let hasChanged = false;
  for (const { data, repeatsLast = false } of pages) {
    const keys = data.map(rowKey);
    if (repeatsLast && keys[0] !== last) hasChanged = true;
    last = keys.at(-1);
    data.forEach((row, index) => {
      const key = keys[index] ?? '';
      if (!rows.has(key)) rows.set(key, row);
    });
  }
  return { rows: [...rows.values()], hasChanged };
}

/** Of the newest rows those before the first one that is shown. Older ones have only taken the place of deleted ones. */
export function countNewer<Row>(
  newest: readonly Row[],
  shown: readonly Row[],
  rowKey: (row: Row) => string,
): number {
  const keys = new Set(shown.map(rowKey));
  const first = newest.findIndex((row) => keys.has(rowKey(row)));
  return first === -1 ? newest.length : first;
}
