/** The origin of the charged tokens in words. */
const ORIGINS: Readonly<Record<string, string>> = {
  reported: 'reported by the provider',
  counted: 'counted by this service',
  estimated: 'estimated by this service',
  none: 'none are charged',
};

export const usageOrigin = (source: string): string => ORIGINS[source] ?? source;
