// A model of the stored catalogue, before it is read.

/** Lowest first. */
export const RANKS = ['imported', 'operator'] as const;
export type Rank = (typeof RANKS)[number];

/** The newest revisions of an entry. */
export interface StoredEntry {
  /** One of KINDS; a later release may store others. */
  readonly kind: string;
  /** The id of the model. */
  readonly id: string;
  /** The newest version of the ranks. */
  readonly version: number;
  /** In the format of a catalogue file. Absent: the rank has none, or its layer has ended. */
  readonly documents: Readonly<Partial<Record<Rank, unknown>>>;
}
