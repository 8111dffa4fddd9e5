/** The use that a provider makes of inputs. */
export interface DataPolicy {
  /** The provider keeps inputs beyond the call. */
  readonly retainsPrompts: boolean;
  /** The provider may train on inputs. */
  readonly trains: boolean;
}
