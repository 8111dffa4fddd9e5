// The session of a person ends an hour after the sign-in, used or not. The provider's own session renews it without a prompt.
import type { Session } from '../api/session';
import { urlOf } from '../base-path';

/** The sign-in of a provider, which leads back to a page. */
export const signInUrl = (providerId: string, returnTo: string): string =>
  `${urlOf('/console/sign-in/')}${encodeURIComponent(providerId)}?return_to=${encodeURIComponent(returnTo)}`;

/** On the way to another page: once it is time, the browser goes by the provider. */
export function renewSession(session: Session | null | undefined, returnTo: string): void {
  if (session?.kind !== 'person' || session.provider_id === null || Date.now() < session.renewsAt) return;
  // The page that was begun stands in the history already.
  location.replace(signInUrl(session.provider_id, returnTo));
}
