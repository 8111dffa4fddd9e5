// Identifiers: time-ordered UUIDs, UUIDs of a name, and the two wire forms of a generation's id.
import { createHash, randomFillSync } from 'node:crypto';

const entropy = Buffer.alloc(16 * 256);
let used = entropy.length;
// The milliseconds of 48 bits.
const LAST_TIME = 2 ** 48 - 1;

/** A UUID version 7 of `moment`: 48 bits of milliseconds, then random bits. */
export function uuidV7(moment: Date): string {
  if (used === entropy.length) {
    randomFillSync(entropy);
    used = 0;
  }
  const bytes = entropy.subarray(used, (used += 16));
  bytes.writeUIntBE(moment.getTime(), 0, 6);
  bytes[6] = 0x70 | ((bytes[6] ?? 0) & 0x0f);
  bytes[8] = 0x80 | ((bytes[8] ?? 0) & 0x3f);
  return formatUuid(bytes);
}

/** A UUID version 5: the same of the same namespace and name. */
export function uuidV5(namespace: string, name: string): string {
  const bytes = createHash('sha1')
    .update(Buffer.from(namespace.replaceAll('-', ''), 'hex'))
    .update(name)
    .digest()
    .subarray(0, 16);
  bytes[6] = 0x50 | ((bytes[6] ?? 0) & 0x0f);
  bytes[8] = 0x80 | ((bytes[8] ?? 0) & 0x3f);
  return formatUuid(bytes);
}

/** Of the first 16 bytes. */
export function formatUuid(bytes: Buffer): string {
  const hex = bytes.toString('hex', 0, 16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/** Before every UUID version 7 of `moment` and of later ones, after those of earlier ones. */
export function firstUuidOf(moment: Date): string {
  const time = Math.min(Math.max(0, moment.getTime()), LAST_TIME);
  const hex = time.toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`;
}

/** The `id` of an embeddings answer (docs/contract.md#embeddings-response). */
export function embeddingAnswerId(generationId: string): string {
  return `embd-${generationId.replaceAll('-', '')}`;
}

/** The `x-generation-id` header. */
export function generationHeaderId(generationId: string): string {
  return `gen-${generationId.replaceAll('-', '')}`;
}

const FORMS =
  /^(?:(?:msg|resp)_)?(?:gen|embd)-([0-9a-f]{32})$|^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/i;
// 9999-12-31: later moments have another notation, and belong to no generation.
const LAST_MOMENT = 253_402_300_799_999;

/**
 * Accepts `gen-<32 hex>`, `embd-<32 hex>`, the id of a message or response that was translated, or the UUID. Null: not the id of
 * a generation.
 */
export function readGenerationId(text: string): { readonly id: string; readonly createdAt: Date } | null {
  const match = FORMS.exec(text);
  if (!match) return null;
  const hex = (match[1] ?? match[2] ?? '').replaceAll('-', '').toLowerCase();
  const milliseconds = Number.parseInt(hex.slice(0, 12), 16);
  // Version 7: the first 48 bits are the time of the call.
  if (hex[12] !== '7' || milliseconds > LAST_MOMENT) return null;
  const id = `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
  return { id, createdAt: new Date(milliseconds) };
}
