// The data of an event before anything is read of them.
import { isJson } from '../../json/json-document.js';

const LF = 0x0a;
const SPACE = 0x20;
// Documents of one event.
const MAX_LINES = 1_024;
const DONE_MARK = /^\s*\[DONE\]\s*$/;

/** Data of several lines becomes one: a break between two members is a space as well. */
export function joinLines(bytes: Buffer, from: number, to: number): void {
  for (let at = from; at < to; at++) if (bytes[at] === LF) bytes[at] = SPACE;
}

/** Lines that are no JSON together, although each of them is. */
export function isSeveralDocuments(bytes: Buffer, from: number, to: number): boolean {
  if (isJson(bytes, from, to)) return false;
  const lines = linesOf(bytes, from, to);
  const isDocument = ([start, end]: Line): boolean =>
    isBlank(bytes, start, end) || isDone(bytes, start, end) || isJson(bytes, start, end);
  return lines.length <= MAX_LINES && lines.every(isDocument);
}

type Line = readonly [from: number, to: number];

/** One line more than MAX_LINES at most. */
export function linesOf(bytes: Buffer, from: number, to: number): Line[] {
  const lines: Line[] = [];
  for (let at = from; at <= to && lines.length <= MAX_LINES;) {
    const end = bytes.indexOf(LF, at);
    const lineEnd = end === -1 || end > to ? to : end;
    lines.push([at, lineEnd]);
    at = lineEnd + 1;
  }
  return lines;
}

export function isDone(bytes: Buffer, from: number, to: number): boolean {
  return to - from < 16 && DONE_MARK.test(bytes.toString('latin1', from, to));
}

/** An object or a list. */
export function isStructure(bytes: Buffer, from: number, to: number): boolean {
  return /^\s*[[{]/.test(bytes.toString('latin1', from, Math.min(to, from + 64)));
}

export function isBlank(bytes: Buffer, from: number, to: number): boolean {
  for (let at = from; at < to; at++) if ((bytes[at] ?? 0) > SPACE) return false;
  return true;
}
