// The form and the answer of POST /oauth/token (RFC 8693). Contract: docs/contract.md#workload-identity.
import { IsString } from 'class-validator';
import { CustomField } from '../../http/fields/compound-fields.js';
import { IgnoresUnknownMembers } from '../../http/fields/validation.pipe.js';
import { EnumField, IntegerField, TextField } from '../../http/fields/scalar-fields.js';
import { MAX_FORM_BYTES } from '../../http/body/form-body.js';

export const TOKEN_EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange';
export const ACCESS_TOKEN = 'urn:ietf:params:oauth:token-type:access_token';
const JWT = 'urn:ietf:params:oauth:token-type:jwt';
export const INFERENCE = 'inference';

/** A value of a closed list, whose absence from it has an OAuth word of its own. */
const WordField = (value: string, optional?: true): PropertyDecorator =>
  CustomField(
    { type: String, enum: [value] },
    { ...(optional && { optional }), rules: [IsString({ message: `must be ${value}` })] },
  );

/** RFC 6749, section 3.2: parameters that the endpoint does not know are ignored. */
@IgnoresUnknownMembers()
export class TokenExchangeDto {
  @WordField(TOKEN_EXCHANGE) grant_type: string;
  @EnumField([JWT]) subject_token_type: string;
  @TextField({
    hiddenMaxLength: MAX_FORM_BYTES,
    description: 'The token of the issuer, a JWT of at most 16 KiB.',
  })
  subject_token: string;
  @TextField({ hiddenMaxLength: MAX_FORM_BYTES, description: 'The id of the federation policy.' })
  federation_policy_id: string;
  @WordField(INFERENCE, true) scope?: string;
  @EnumField([ACCESS_TOKEN], { optional: true }) requested_token_type?: string;
}

export class AccessTokenDto {
  @TextField({ example: 'sk-sb-t1-...', description: 'Sent as a key: `Authorization: Bearer`.' })
  access_token: string;
  @EnumField([ACCESS_TOKEN]) issued_token_type: string;
  @EnumField(['Bearer']) token_type: string;
  @IntegerField({ description: 'Seconds until the access token ends.' }) expires_in: number;
  @EnumField([INFERENCE]) scope: string;
}
