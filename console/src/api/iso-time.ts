// Times as the operations read them: UTC, to the second.

export function isoTime(time: Date | number): string {
  return `${new Date(time).toISOString().slice(0, 19)}Z`;
}

/** Of the text of a field in the zone of the reader. Undefined: it is no time. */
export function isoTimeOfLocal(text: string): string | undefined {
  const time = new Date(text);
  return Number.isNaN(time.getTime()) ? undefined : isoTime(time);
}
