// The identifier of a generation, in the forms that callers use.
import { AppError } from '../domain/errors.js';

const FORMS = /^(?:gen|embd)-([0-9a-f]{32})$|^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/i;
// 9999-12-31: later moments have another notation, and belong to no generation.
const LAST_MOMENT = 253_402_300_799_999;

export interface GenerationKey {
  readonly id: string;
  readonly createdAt: Date;
}

/** Accepts `gen-<32 hex>`, `embd-<32 hex>`, or the UUID. Null: not an identifier of this service. */
export function readGenerationId(text: unknown): GenerationKey | null {
  if (typeof text !== 'string' || text === '') {
    throw new AppError('invalid_request', {
      detail: 'id: must be the id of one generation: gen- or embd- and 32 hexadecimal digits, or a UUID',
    });
  }
  const match = FORMS.exec(text);
  if (!match) return null;
  const hex = (match[1] ?? match[2] ?? '').replaceAll('-', '').toLowerCase();
  const milliseconds = Number.parseInt(hex.slice(0, 12), 16);
  // Version 7: the first 48 bits are the time of the call.
  if (hex[12] !== '7' || milliseconds > LAST_MOMENT) return null;
  const id = `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
  return { id, createdAt: new Date(milliseconds) };
}
