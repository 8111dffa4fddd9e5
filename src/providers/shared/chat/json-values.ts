// Recognises the forms of JSON values that wires edit.
import type { JsonObject, JsonValue } from '../../../domain/chat/chat-request.js';

export function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function isArray(value: JsonValue | undefined): value is readonly JsonValue[] {
  return Array.isArray(value);
}
