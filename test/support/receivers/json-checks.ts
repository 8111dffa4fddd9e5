// Shared by the receivers of JSON formats: checks that a body is strict JSON, and its members.
import { findMemberProblem } from '../providers/provider-stub.js';
import type { MemberCheck, MemberRules } from '../providers/provider-stub.js';
import type { ReceivedDelivery, ReceiverReply, ReceiverResult } from './receiver.js';

export type JsonObject = Readonly<Record<string, unknown>>;

/** A platform's no. */
export const rejection = (status: number, body: ReceiverReply['body'] = ''): ReceiverResult => ({
  reply: { status, body },
  stored: [],
});

/** The body; undefined: not JSON in UTF-8 with whole characters, or not announced as such. */
export function readJson({ headers, bytes }: ReceivedDelivery): unknown {
  if (!/^application\/json(;|$)/.test(headers['content-type'] ?? '')) return undefined;
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return JSON.parse(text, (key, value: unknown) => {
      if (!key.isWellFormed() || (typeof value === 'string' && !value.isWellFormed()))
        throw new SyntaxError();
      return value;
    });
  } catch {
    return undefined;
  }
}

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
export const isString: MemberCheck = (value) => typeof value === 'string';
export const isNumber: MemberCheck = (value) => Number.isFinite(value);
export const isCount: MemberCheck = (value) => Number.isInteger(value) && (value as number) >= 0;
/** ISO 8601 with a zone. */
export const isTime: MemberCheck = (value) =>
  typeof value === 'string' &&
  /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/.test(value) &&
  !Number.isNaN(Date.parse(value));
export const matches =
  (pattern: RegExp): MemberCheck =>
  (value) =>
    typeof value === 'string' && pattern.test(value);
export const orNull =
  (check: MemberCheck): MemberCheck =>
  (value) =>
    value === null || check(value);
export const listOf =
  (check: MemberCheck, least = 0, most = Infinity): MemberCheck =>
  (value) =>
    Array.isArray(value) && value.length >= least && value.length <= most && value.every(check);
export const membersOf =
  (check: MemberCheck): MemberCheck =>
  (value) =>
    isObject(value) && Object.values(value).every(check);
/** An object with these members and no other. */
export const objectWith =
  (required: MemberRules['required'], optional: MemberRules['optional'] = {}): MemberCheck =>
  (value) =>
    isObject(value) && findMemberProblem(value, { required, optional, unknown: 'refused' }) === null;

/** Whether no two of these are the same. */
export const areDistinct = (values: readonly unknown[]): boolean => new Set(values).size === values.length;

/** The UUID of a generation whose id stands in the form that callers know. */
export function generationIdOf(shown: unknown): string {
  const groups = /^gen-(.{8})(.{4})(.{4})(.{4})(.{12})$/.exec(String(shown)) ?? [];
  return groups.slice(1).join('-');
}
