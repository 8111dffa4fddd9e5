// A provider: its name in the environment, its models in the catalogue, and its use of inputs.

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

/** The use that a provider makes of inputs. */
export interface DataPolicy {
  /** The provider keeps inputs beyond the call. */
  readonly retainsPrompts: boolean;
  /** The provider may train on inputs. */
  readonly trains: boolean;
}
