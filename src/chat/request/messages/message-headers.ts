// The headers of a client that speaks the Messages wire: those that go upstream, and those that describe a coding agent.

export type WireHeaders = Readonly<Record<string, string | string[] | undefined>>;

const MAX_VALUES = 20;
const MAX_BYTES = 1_024;
/** They choose an account or a workspace of the operator at the provider. */
const ACCOUNT = new Set([
  'anthropic-workspace-id',
  'anthropic-organization-id',
  'anthropic-dangerous-direct-browser-access',
]);
const SANE = /^[\x20-\x7e]*$/;

/** `anthropic-…`, as an open list. Betas of the caller's own login name no right here. */
export function sentHeaders(headers: WireHeaders): Readonly<Record<string, string>> {
  const sent: Record<string, string> = {};
  let count = 0;
  for (const [name, value] of Object.entries(headers)) {
    if (!name.startsWith('anthropic-') || ACCOUNT.has(name) || typeof value !== 'string') continue;
    const kept = name === 'anthropic-beta' ? withoutLogins(value) : value.trim();
    if (kept === '' || kept.length > MAX_BYTES || !SANE.test(kept) || ++count > MAX_VALUES) continue;
    sent[name] = kept;
  }
  return sent;
}

function withoutLogins(value: string): string {
  const betas = value.split(',').map((beta) => beta.trim());
  return betas
    .filter((beta) => beta !== '' && !beta.startsWith('oauth-'))
    .slice(0, MAX_VALUES)
    .join(',');
}

/** Recorded, and trusted for nothing. Null: the client is no agent that names itself. */
export function traceOfAgent(headers: WireHeaders): Readonly<Record<string, string>> | null {
  const named: Record<string, string> = {};
  for (const name of ['agent-id', 'parent-agent-id']) {
    const value = headers[`x-claude-code-${name}`];
    if (typeof value === 'string' && value !== '' && SANE.test(value))
      named[name.replaceAll('-', '_')] = value.slice(0, 256);
  }
  return Object.keys(named).length === 0 ? null : named;
}
