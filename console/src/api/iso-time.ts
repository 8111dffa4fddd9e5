// Times as the operations read them: UTC, to the second.

const MINUTE_MS = 60_000;

export function isoTime(time: Date | number): string {
  return `${new Date(time).toISOString().slice(0, 19)}Z`;
}

/** Of the text of a field in the zone of the reader. Undefined: it is no time. */
export function isoTimeOfLocal(text: string): string | undefined {
  const time = new Date(text);
  return Number.isNaN(time.getTime()) ? undefined : isoTime(time);
}

/** The minute of a time as the field has it, in the zone of the reader. */
export function localMinute(time: string): string {
  const at = new Date(time);
  return new Date(at.getTime() - at.getTimezoneOffset() * MINUTE_MS).toISOString().slice(0, 16);
}
