// The names of a provider's environment variables.

/** The prefix of `<PROVIDER>_BASE_URL` and `<PROVIDER>_API_KEY`. */
export function providerPrefix(slug: string): string {
  return slug.toUpperCase().replaceAll('-', '_');
}
