// Proposals of prices that maintained lists state, for a person to compare and apply (docs/contract.md#catalogue).

/** In groups of the first three the lists agree. */
export const PROPOSAL_GROUPS = [
  'new',
  'cheaper',
  'dearer',
  'lists disagree',
  'one list',
  'tiers',
  'future',
  'remove',
] as const;
export const IMPORT_STATES = ['open', 'applied', 'discarded'] as const;

/** A price in force and those of the lists, in USD as decimal text. */
export interface ProposedPrice {
  readonly member: string;
  /** Null: none. */
  readonly own: string | null;
  readonly values: readonly { readonly list: string; readonly value: string }[];
}

/** A reason why no group takes the proposal. */
export interface ProposalHold {
  readonly reason: string;
  /** A person types the confirmation of the proposal to apply it. */
  readonly isTyped: boolean;
}

/** One way to take the proposal. */
export interface ProposalChoice {
  /** The lists that state it. */
  readonly lists: readonly string[];
  /** Members of the imported layer, in the format of a catalogue file. */
  readonly document: Readonly<Record<string, unknown>>;
  /** Why it cannot be applied; null: it can. */
  readonly problem: string | null;
}

export interface Proposal {
  /** From 0 on. */
  readonly number: number;
  readonly group: (typeof PROPOSAL_GROUPS)[number];
  readonly kind: string;
  /** The id of the model. */
  readonly id: string;
  readonly provider: string;
  readonly upstreamModel: string;
  readonly prices: readonly ProposedPrice[];
  readonly holds: readonly ProposalHold[];
  /** Its changes in one line. */
  readonly summary: string;
  /** Empty: it is for a person's own row. */
  readonly choices: readonly ProposalChoice[];
}

export interface CatalogueImport {
  readonly id: string;
  readonly lists: readonly string[];
  readonly state: (typeof IMPORT_STATES)[number];
  /** The label of the key. */
  readonly actor: string;
  readonly createdAt: Date;
  readonly proposals: readonly Proposal[];
  /** The version that an applied proposal has become, by its number. */
  readonly applied: Readonly<Record<string, number>>;
}
