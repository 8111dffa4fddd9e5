// Trace and span ids in the form that every platform accepts: lower-case hex, never all zeros. Each is a pure function
// of the generation and the destination, so that a repeated delivery has the same ids.
import { hash } from 'node:crypto';
import { traceText } from '../caller-trace.js';
import type { Generation } from './generation.js';

type Traced = Pick<Generation, 'id' | 'workspaceId' | 'trace'>;

const TRACE_ID_BYTES = 16;
const SPAN_ID_BYTES = 8;

/** 32 hex digits: the caller's own, a hash of the caller's text, or the id of the generation. */
export function traceIdOf({ id, workspaceId, trace }: Traced): string {
  const text = traceText(trace, 'trace_id');
  return text === null ? id.replaceAll('-', '') : idOfText(text, workspaceId, TRACE_ID_BYTES);
}

/** The caller's own trace id if it does not have the form of one. */
export function callerTraceIdOf({ trace }: Traced): string | null {
  const text = traceText(trace, 'trace_id');
  return text === null || isHexId(text, TRACE_ID_BYTES) ? null : text;
}

/** 16 hex digits. */
export function spanIdOf(destinationId: string, generationId: string): string {
  return hashedId(destinationId + generationId, SPAN_ID_BYTES);
}

/** 16 hex digits: the caller's span that is the parent of the generation. */
export function parentSpanIdOf({ workspaceId, trace }: Traced): string | null {
  const text = traceText(trace, 'parent_span_id');
  return text === null ? null : idOfText(text, workspaceId, SPAN_ID_BYTES);
}

/** Hashes include the workspace, so that customers with the same text do not share an id. */
function idOfText(text: string, workspaceId: string, bytes: number): string {
  return isHexId(text, bytes) ? text.toLowerCase() : hashedId(workspaceId + text, bytes);
}

function isHexId(text: string, bytes: number): boolean {
  return text.length === 2 * bytes && /^[0-9a-f]*[1-9a-f][0-9a-f]*$/i.test(text);
}

function hashedId(text: string, bytes: number): string {
  const digits = hash('sha256', text, 'hex').slice(0, 2 * bytes);
  // All zeros would be an invalid id: the last bit is always set.
  const last = Number.parseInt(digits.slice(-1), 16) | 1;
  return digits.slice(0, -1) + last.toString(16);
}
