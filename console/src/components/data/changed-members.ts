// The members of an object that a change has made different.

export interface ChangedMember {
  readonly name: string;
  /** Undefined: the object, or the member, was not there. */
  readonly before: string | undefined;
  readonly after: string | undefined;
}

/** Null: there was no object. */
export interface ObjectChange {
  readonly before: object | null;
  readonly after: object | null;
}

/** The members that differ, by their path. */
export function changedMembers({ before, after }: ObjectChange): readonly ChangedMember[] {
  const old = flatten(before ?? {});
  const fresh = flatten(after ?? {});
  return [...new Set([...old.keys(), ...fresh.keys()])]
    .map((name) => ({ name, before: old.get(name), after: fresh.get(name) }))
    .filter((member) => member.before !== member.after);
}

function flatten(object: object, prefix = ''): Map<string, string> {
  const members = new Map<string, string>();
  for (const [name, value] of Object.entries(object) as [string, unknown][]) {
    const path = `${prefix}${name}`;
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      for (const [inner, text] of flatten(value, `${path}.`)) members.set(inner, text);
    } else {
      members.set(path, typeof value === 'string' ? value : JSON.stringify(value));
    }
  }
  return members;
}
