// Addresses of operations below an operator's base URL, which may have a query, a user name and a password.

/** Puts the path of an operation before the query of the base URL. */
export function operationUrl(baseUrl: string, path: string): string {
  const { root, query } = partsOf(baseUrl);
  return root + path + query;
}

/** The base URL without the version that its path may end in. */
export function withoutVersion(baseUrl: string): string {
  return withoutPath(baseUrl, '/v1');
}

/** The base URL without the end of its path, if it has that. */
export function withoutPath(baseUrl: string, end: string): string {
  const { root, query } = partsOf(baseUrl);
  return (root.endsWith(end) ? root.slice(0, -end.length) : root) + query;
}

function partsOf(baseUrl: string): { readonly root: string; readonly query: string } {
  const at = baseUrl.indexOf('?');
  return at === -1 ? { root: baseUrl, query: '' } : { root: baseUrl.slice(0, at), query: baseUrl.slice(at) };
}

/** Turns user name and password of an address into a header: requests are sent to addresses without them. */
export function withoutUserInfo(url: string): {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
} {
  if (!url.includes('@')) return { url, headers: {} };
  const address = new URL(url);
  const { username, password } = address;
  if (username === '' && password === '') return { url, headers: {} };
  address.username = '';
  address.password = '';
  const userInfo = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return {
    url: address.href,
    headers: { authorization: `Basic ${Buffer.from(userInfo).toString('base64')}` },
  };
}
