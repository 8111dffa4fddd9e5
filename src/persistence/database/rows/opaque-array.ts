// A list parameter of a plain statement whose plan PostgreSQL keeps.

/**
 * Hides the length of the list from the planner. A visible list of one looks so much cheaper than one of unknown
 * length that the planner plans again each time, and planning takes several times as long as reading.
 */
export function opaqueArray(parameter: string, type: string): string {
  return `(SELECT ${parameter}::${type}[])::${type}[]`;
}
