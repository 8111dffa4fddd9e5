// The page of the console to which a sign-in leads back.

const MAX_LENGTH = 1_500;

/**
 * The address is parsed as a browser does it, and must stay at the service's origin: `//host`, `/\host` and others lead
 * elsewhere. The result is absolute, because a path may itself begin with `//`. Anything else leads to the console's first
 * page.
 */
export function returnUrlOf(returnTo: unknown, publicUrl: string): string {
  const home = `${publicUrl}/`;
  const isText = typeof returnTo === 'string' && returnTo.startsWith('/') && returnTo.length <= MAX_LENGTH;
  if (!isText || !URL.canParse(returnTo, home)) return home;
  const url = new URL(returnTo, home);
  const isOwn = url.origin === new URL(home).origin && url.username === '' && url.password === '';
  const isBelow = `${url.pathname}/`.startsWith(new URL(home).pathname);
  return isOwn && isBelow && url.href.length <= MAX_LENGTH ? url.href : home;
}
