// Answers of operations that destinations and notifications share. Contract: docs/contract.md#delivery-operations.
import type { ConnectionTest } from '../../domain/destinations/delivery.js';
import { FlagField, IntegerField, TextField } from '../fields/scalar-fields.js';

export class ConnectionTestDto {
  @FlagField({ description: 'Whether the receiver accepted the test.' }) ok: boolean;
  @TextField({ nullable: true, description: 'The problem; null: none.' }) reason: string | null;
  @IntegerField() duration_ms: number;
}

export class SigningSecretDto {
  @TextField({ example: 'whsec_...', description: '`whsec_` and base64.' }) secret: string;
}

export function toConnectionTestDto({ problem, durationMs }: ConnectionTest): ConnectionTestDto {
  return { ok: problem === null, reason: problem, duration_ms: durationMs };
}
