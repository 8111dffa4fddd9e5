// The results of a search in words, and where each leads.
import type { LinkProps } from '@tanstack/react-router';
import type { Found } from '../../api/search';

type Kind = Found['type'];

export const KINDS: Readonly<Record<Kind, string>> = {
  generation: 'Calls',
  refusal: 'Refused calls',
  key: 'Keys',
  session: 'Sessions',
  user: 'Users',
};

/** The member that has the text, where the kind does not say it. */
export const MATCHES: Readonly<Record<Found['matched_by'], string | null>> = {
  generation_id: 'by its generation id',
  request_id: 'by its request id',
  upstream_id: "by the provider's id",
  key_hash: 'by its hash',
  key_name: null,
  key_label: 'by its label',
  session_id: null,
  user_id: null,
};

/** `own`: the workspace of the session, which is that of an address without one. */
export function targetOf(
  { type, id, workspace_id: found, request_id: request }: Found,
  own: string,
): LinkProps {
  const workspace = found === own ? undefined : found;
  switch (type) {
    case 'generation':
      return { to: '/generations/$id', params: { id }, search: { workspace } };
    case 'refusal':
      return { to: '/refusals', search: { workspace, request: request ?? undefined } };
    case 'key':
      return { to: '/keys/$hash', params: { hash: id }, search: { workspace } };
    case 'session':
      return { to: '/generations', search: { workspace, session: id } };
    case 'user':
      return { to: '/generations', search: { workspace, user: id } };
  }
}
