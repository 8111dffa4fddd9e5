// Models that end, on the wire. Contract: docs/contract.md#models.
import { KINDS } from '../../catalogue/reader/kinds.js';
import { ObjectListField } from '../../http/fields/compound-fields.js';
import {
  DayField,
  EnumField,
  IntegerField,
  TextField,
  TimeField,
  UuidField,
} from '../../http/fields/scalar-fields.js';
import type { ExpiringModel } from '../expiring-models.service.js';

class ModelUserDto {
  @TextField({ description: 'The id of the key.' }) hash: string;
  @TextField() name: string;
  @TextField({ example: 'sk-sb-v1-abc...1234' }) label: string;
  @UuidField() workspace_id: string;
  @IntegerField({ description: 'Of the last 7 days.' }) requests: number;
  @TimeField() last_used_at: string;
}

export class ExpiringModelDto {
  @EnumField(KINDS) kind: string;
  @TextField({ example: 'openai/gpt-4o' }) id: string;
  @TextField() name: string;
  @DayField({ description: 'The day (UTC) from which on its vendor may have withdrawn it.' })
  expires_on: string;
  @TextField({ nullable: true, example: 'openai/gpt-5.5' }) successor: string | null;
  @ObjectListField(ModelUserDto, {
    description: 'Keys of the account that have used it within 7 days, the latest use first.',
  })
  keys: ModelUserDto[];
}

export function toExpiringModelDto({ expiresOn, keys, ...model }: ExpiringModel): ExpiringModelDto {
  return {
    ...model,
    expires_on: expiresOn,
    keys: keys.map(({ hash, name, label, workspaceId, requests, lastUsedAt }) => ({
      hash,
      name,
      label,
      workspace_id: workspaceId,
      requests,
      last_used_at: lastUsedAt.toISOString(),
    })),
  };
}
