/** The kinds of models at one provider, which differ in their bodies. */
export interface ModelFamilies {
  readonly names: readonly string[];
  /** Null: the name does not show it, and the catalogue has to state it. */
  of(upstreamModel: string): string | null;
}
