// Results of the search on the wire, and its query. Contract: docs/contract.md#search.
import { generationHeaderId } from '../../domain/identifiers.js';
import type { Refusal } from '../../domain/keys/refusal.js';
import { EnumField, IntegerField, TextField, TimeField, UuidField } from '../../http/fields/scalar-fields.js';
import type { LoggedKeyNames } from '../../persistence/generations/logged-keys.js';
import type { FoundCall, FoundKey, NewestCall } from '../../persistence/search/search.repository.js';

// The longest of the texts that are found: that of a user.
const MAX_LENGTH = 1_000;

const TYPES = ['generation', 'refusal', 'key', 'session', 'user'] as const;
const MATCHES = [
  'generation_id',
  'request_id',
  'upstream_id',
  'key_hash',
  'key_name',
  'key_label',
  'session_id',
  'user_id',
] as const;

export class SearchQueryDto {
  @TextField({
    minLength: 1,
    maxLength: MAX_LENGTH,
    description:
      'An id, or a part of the name or label of a key in upper or lower case. Ids are found whole.',
  })
  q: string;
}

export class SearchResultDto {
  @EnumField(TYPES) type: (typeof TYPES)[number];
  @EnumField(MATCHES, { description: 'The member that has the text.' }) matched_by: (typeof MATCHES)[number];
  @TextField({
    description:
      'Of a call that for `GET /generation`, of a key its hash, of a session or user its name, of a refused call the id in ' +
      '`GET /refusals`.',
  })
  id: string;
  @UuidField() workspace_id: string;
  @TimeField({ description: 'Of a session or user the time of its newest call in the workspace.' })
  created_at: string;
  @TextField({ nullable: true, description: 'Of a key, or of the key of a call. Null: it is purged.' })
  api_key_hash: string | null;
  @TextField({ nullable: true }) api_key_name: string | null;
  @TextField({ nullable: true, description: 'Of a key: the visible parts of its secret.' }) api_key_label:
    string | null;
  @TextField({ nullable: true, description: 'Of a call.' }) model: string | null;
  @IntegerField({ nullable: true, description: 'Of a call.' }) status: number | null;
  @TextField({ nullable: true, description: 'Of a call that failed.' }) error_type: string | null;
  @TextField({ nullable: true, description: 'Of a call, refused or not.' }) request_id: string | null;
  @TextField({ nullable: true, description: 'Of a refused call.' }) reason: string | null;
  @TextField({ nullable: true, description: 'Of a call that failed or was refused: its message.' }) message:
    string | null;
  @TextField({ nullable: true, description: 'Of a session or user.' }) newest_generation_id: string | null;
}

const NOTHING = {
  api_key_hash: null,
  api_key_name: null,
  api_key_label: null,
  model: null,
  status: null,
  error_type: null,
  request_id: null,
  reason: null,
  message: null,
  newest_generation_id: null,
} as const;

export function toFoundCall(
  call: FoundCall,
  matchedBy: 'generation_id' | 'request_id' | 'upstream_id',
  key: LoggedKeyNames | undefined,
): SearchResultDto {
  return {
    ...NOTHING,
    type: 'generation',
    matched_by: matchedBy,
    id: generationHeaderId(call.id),
    workspace_id: call.workspaceId,
    created_at: call.createdAt.toISOString(),
    api_key_hash: key?.hash ?? null,
    api_key_name: key?.name ?? null,
    model: call.model,
    status: call.status,
    error_type: call.errorType,
    message: call.errorMessage,
    request_id: call.requestId,
  };
}

export function toFoundRefusal(refusal: Refusal, key: LoggedKeyNames | undefined): SearchResultDto {
  return {
    ...NOTHING,
    type: 'refusal',
    matched_by: 'request_id',
    id: refusal.id,
    workspace_id: refusal.workspaceId,
    created_at: refusal.createdAt.toISOString(),
    api_key_hash: key?.hash ?? null,
    api_key_name: key?.name ?? null,
    request_id: refusal.requestId,
    reason: refusal.reason,
    message: refusal.message,
  };
}

export function toFoundKey(key: FoundKey): SearchResultDto {
  return {
    ...NOTHING,
    type: 'key',
    matched_by: key.matchedBy,
    id: key.hash,
    workspace_id: key.workspaceId,
    created_at: key.createdAt.toISOString(),
    api_key_hash: key.hash,
    api_key_name: key.name,
    api_key_label: key.label,
  };
}

export function toFoundName(type: 'session' | 'user', name: string, newest: NewestCall): SearchResultDto {
  return {
    ...NOTHING,
    type,
    matched_by: `${type}_id`,
    id: name,
    workspace_id: newest.workspaceId,
    created_at: newest.createdAt.toISOString(),
    newest_generation_id: generationHeaderId(newest.id),
  };
}
