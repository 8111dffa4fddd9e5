// A page of a list.

export interface PageRequest {
  readonly offset: number;
  readonly limit: number;
}

export interface Page<Item> {
  readonly items: readonly Item[];
  /** Of the whole list. */
  readonly total: number;
}
