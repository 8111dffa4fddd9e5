// The optional members that the bodies of POST and PATCH share. Contract: docs/contract.md#destinations.
import { Transform } from 'class-transformer';
import { Matches } from 'class-validator';
import { KEY_HASH } from '../../domain/keys/api-key.js';
import { REGIONS } from '../../domain/destinations/destination.js';
import type { Region } from '../../domain/destinations/destination.js';
import { ListField, ObjectField } from '../../http/fields/compound-fields.js';
import type { FieldOptions } from '../../http/fields/field.js';
import { FlagField, NumberField, TextField } from '../../http/fields/scalar-fields.js';
import { FilterRulesDto } from './filter-rules.dto.js';

const INPUT_REGIONS: readonly string[] = [...REGIONS, 'eu'];

export const DestinationNameField = (options: FieldOptions = {}): PropertyDecorator =>
  TextField({ ...options, hiddenMaxLength: 1_000, example: 'Production traces' });

export abstract class DestinationOptionsDto {
  @FlagField({ optional: true })
  enabled?: boolean;

  @FlagField({ optional: true, description: 'True: omits inputs and outputs, and forwards only metadata.' })
  privacy_mode?: boolean;

  @FlagField({ optional: true, description: 'True: includes cost and billing metadata.' })
  broadcast_generation_cost?: boolean;

  @FlagField({ optional: true, description: 'True: includes identity metadata.' })
  broadcast_generation_identity?: boolean;

  @FlagField({ optional: true, description: 'True: includes request-context metadata.' })
  broadcast_generation_request_context?: boolean;

  @NumberField({ optional: true, minimum: 0.0001, maximum: 1, format: 'double' })
  sampling_rate?: number;

  // The limit of key hashes: docs/contract.md#limits.
  @ListField(String, {
    optional: true,
    nullable: true,
    minItems: 1,
    hiddenMaxItems: 100,
    minItemsMessage: 'must have at least 1 element, or be null for all keys',
    rules: [
      Matches(KEY_HASH, {
        each: true,
        message: 'must hold key hashes of 64 lower-case hexadecimal digits',
      }),
    ],
    description: 'Hashes of the keys whose traffic is forwarded. Null: all keys.',
  })
  api_key_hashes?: string[] | null;

  @ObjectField(FilterRulesDto, { optional: true, nullable: true })
  filter_rules?: FilterRulesDto | null;

  @ListField(String, {
    optional: true,
    values: REGIONS,
    documentedValues: INPUT_REGIONS,
    hiddenMinItems: 1,
    rules: [
      Transform(({ value }: { value: unknown }) => (Array.isArray(value) ? withoutAliases(value) : value)),
    ],
    description: '`eu` is stored as `europe`.',
  })
  regions?: Region[];
}

function withoutAliases(regions: readonly unknown[]): unknown[] {
  return [...new Set(regions.map((region) => (region === 'eu' ? 'europe' : region)))];
}
