// The name of a provider in the environment, and its models in the catalogue.

/** The prefix of `<PROVIDER>_BASE_URL` and `<PROVIDER>_API_KEY`. */
export function providerPrefix(slug: string): string {
  return slug.toUpperCase().replaceAll('-', '_');
}

/** The kinds of models at one provider, which differ in their bodies. */
export interface ModelFamilies {
  readonly names: readonly string[];
  /** Null: the name does not show it, and the catalogue has to state it. */
  of(upstreamModel: string): string | null;
}
