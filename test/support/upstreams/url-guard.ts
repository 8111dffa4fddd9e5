import type { AppConfig } from '../../../src/config/app-config.js';
import { UrlGuard } from '../../../src/outbound/connections/url-guard.js';
import { TestClock } from '../app/clock.js';
import { ScriptedResolver } from '../app/name-resolver.js';

/** A guard with a scripted resolver; `opened` are the ranges of DESTINATION_ALLOWED_CIDRS. */
export function guardWith(
  resolver = new ScriptedResolver(),
  opened: readonly string[] = [],
  clock = new TestClock(),
): UrlGuard {
  return new UrlGuard({ destinationAllowedCidrs: opened } as unknown as AppConfig, resolver, clock);
}
