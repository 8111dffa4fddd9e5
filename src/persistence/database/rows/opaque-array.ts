// A list parameter of a plain statement whose plan is to be kept.

/**
 * The planner does not look into it. Where it does, it finds a list of one so much cheaper than one of unknown length that
 * it plans anew each time, and planning takes several times as long as reading.
 */
export function opaqueArray(parameter: string, type: string): string {
  return `(SELECT ${parameter}::${type}[])::${type}[]`;
}
