// The matches of a content filter in the record of a call.
import { FILTER_ACTIONS } from '../../domain/guardrails/content-filter.js';
import { GUARDRAIL_SCOPES } from '../../domain/guardrails/guardrail-hit.js';
import { EnumField, IntegerField, TextField } from '../../http/fields/scalar-fields.js';

export class GuardrailHitDto {
  @TextField({ description: 'The id of the guardrail.' }) id: string;
  @TextField({ description: 'Its name at the time of the call.' }) name: string;
  @EnumField(GUARDRAIL_SCOPES) scope: string;
  @TextField({ description: 'Label or slug of the filter, else its index.' }) filter: string;
  @EnumField(FILTER_ACTIONS) action: string;
  @IntegerField({ description: 'Matches.' }) count: number;
}
