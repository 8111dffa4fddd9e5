// The bodies and answers of a sign-in from a command line. Contract: docs/contract.md#sign-in-from-a-command-line.
import { CODE_CHALLENGE, CODE_VERIFIER, MAX_KEY_LABEL } from '../../domain/keys/auth-code.js';
import { LIMIT_RESETS } from '../../domain/spend/spend.js';
import type { LimitReset } from '../../domain/spend/spend.js';
import {
  EnumField,
  FormattedField,
  IntegerField,
  TextField,
  TimeField,
  UsdLimitField,
  WorkspaceIdField,
} from '../../http/fields/scalar-fields.js';

const METHODS = ['S256'] as const;

export class CreateAuthCodeDto {
  @TextField({
    minLength: 1,
    example: 'http://localhost:8976/callback',
    hiddenMaxLength: 2_048,
    description:
      'Receives the code: http on 127.0.0.1, [::1] or localhost, or https on a host that the operator lists.',
  })
  callback_url: string;

  @FormattedField({
    pattern: CODE_CHALLENGE,
    message: 'must be a SHA-256 in base64url, 43 characters',
    minLength: 43,
    maxLength: 43,
    description: 'The SHA-256 of the code verifier in base64url (RFC 7636).',
  })
  code_challenge: string;

  @EnumField(METHODS) code_challenge_method: string;

  @TextField({
    optional: true,
    minLength: 1,
    maxLength: MAX_KEY_LABEL,
    description:
      'The name of the key. Another sign-in with it rotates the same key. Default: the name of the application, by its headers.',
  })
  key_label?: string;

  @UsdLimitField({
    optional: true,
    description: 'USD. Absent: no limit of the key, or that of the own-key policy.',
    example: 12.5,
  })
  limit?: number;

  @EnumField(LIMIT_RESETS, {
    optional: true,
    description:
      'When the limit resets: at 00:00 UTC, weeks on Monday. Absent: never, or as the own-key policy says.',
  })
  usage_limit_type?: LimitReset;

  @TimeField({
    optional: true,
    nullable: true,
    description:
      'The end of the key, in UTC, with seconds, in the future. Absent: in 90 days, or when the own-key policy ends it. Null: never.',
    example: '2027-01-31T12:00:00Z',
  })
  expires_at?: string | null;

  @WorkspaceIdField() workspace_id?: string;
}

export class AuthCodeDto {
  @TextField({ description: 'The code, which a program exchanges once, within 5 minutes.' }) id: string;
  @IntegerField({ description: 'Always 0.' }) app_id: number;
  @TimeField() created_at: string;
}

export class ExchangeAuthCodeDto {
  @TextField({ minLength: 1, hiddenMaxLength: 512, description: 'The code, as the callback received it.' })
  code: string;

  @FormattedField({
    pattern: CODE_VERIFIER,
    message: 'must have 43 to 128 letters, digits and -._~',
    minLength: 43,
    maxLength: 128,
    description: 'The code verifier, whose challenge the code was made with (RFC 7636).',
  })
  code_verifier: string;

  @EnumField(METHODS, { optional: true, nullable: true }) code_challenge_method?: string | null;
}

export class ExchangedKeyDto {
  @TextField({ example: 'sk-sb-v1-...', description: 'The secret of the key. It is shown only here.' })
  key: string;
  @TextField({ nullable: true, description: 'The person who consented. Null: a management key did.' })
  user_id: string | null;
}
