// A model that its vendor withdraws (docs/contract.md#models).

export interface Deprecation {
  /** The UTC day from which on it may be gone, YYYY-MM-DD; absent: none is known. */
  readonly expiresOn?: string;
  /** The id of the model that its vendor recommends instead. No call is moved to it: it has another price. */
  readonly successor?: string;
}

/** None while no day is known. */
export function deprecationHeaders({ expiresOn, successor }: Deprecation): Record<string, string> {
  if (expiresOn === undefined) return {};
  const end = new Date(`${expiresOn}T00:00:00Z`);
  return {
    Deprecation: `@${end.getTime() / 1_000}`,
    Sunset: end.toUTCString(),
    ...(successor !== undefined && { Link: `</api/v1/models/${successor}>; rel="successor-version"` }),
  };
}

export function mayBeGone({ expiresOn }: Deprecation, day: string): boolean {
  return expiresOn !== undefined && expiresOn <= day;
}
