// Keeps the names of models unique when a catalogue file adds models and aliases.
import { idsOf } from './catalogue-model.js';
import type { NamedModel } from './catalogue-model.js';
import type { YamlCursor } from './yaml-cursor.js';

/** Two models of the file, or a model of the file and a shipped one, would answer to one name. */
export function rejectSharedNames(
  cursor: YamlCursor,
  models: ReadonlyMap<string, NamedModel>,
  named: ReadonlySet<string>,
): void {
  const owners = new Map<string, string>();
  for (const model of models.values()) {
    for (const name of idsOf(model)) {
      const owner = models.has(name) ? name : (owners.get(name) ?? model.id);
      if (owner !== model.id && named.has(model.id)) cursor.fail(`${name} names ${owner} and ${model.id}`);
      owners.set(name, owner);
    }
  }
}

/** A model of the file may have an id that is shipped as an alias. */
export function withoutTakenNames<Model extends NamedModel>(
  model: Model,
  models: ReadonlyMap<string, NamedModel>,
): Model {
  const { canonicalSlug, aliases } = model;
  const isTaken = (name: string): boolean => name !== model.id && models.has(name);
  if (!idsOf(model).some(isTaken)) return model;
  return {
    ...model,
    ...(canonicalSlug !== undefined && isTaken(canonicalSlug) && { canonicalSlug: model.id }),
    ...(aliases && { aliases: aliases.filter((alias) => !isTaken(alias)) }),
  };
}
