// A page of a list.

export interface PageRequest {
  readonly offset: number;
  readonly limit: number;
}

export interface Page<Item> {
  readonly items: readonly Item[];
  /** The number of items in the whole list. */
  readonly total: number;
}
