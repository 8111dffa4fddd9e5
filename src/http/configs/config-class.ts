// Config classes as parts of request bodies: their fields get the validation and the documentation of all bodies.
import { baseOf, fieldProblem, ownFieldsOf } from '../../destination-kinds/shared/config-fields.js';
import type { ConfigClass, ConfigField } from '../../destination-kinds/shared/config-fields.js';
import type { BaseDestinationConfig, ConfigKind } from '../../destination-kinds/shared/destination-kind.js';
import { Rule, defineField } from '../fields/field.js';

const prepared = new Set<ConfigClass>();

/** The class of a kind's configs, ready for validation and for OpenAPI. */
export function configClassOf({
  configClass,
}: Pick<ConfigKind, 'configClass'>): new () => BaseDestinationConfig {
  prepare(configClass);
  return configClass;
}

function prepare(configClass: ConfigClass): void {
  if (prepared.has(configClass)) return;
  prepared.add(configClass);
  const base = baseOf(configClass);
  // Fields are inherited in the order of their definition.
  if (base) prepare(base);
  for (const field of ownFieldsOf(configClass)) define(configClass.prototype, field);
}

function define(prototype: object, field: ConfigField): void {
  const { description, example, default: byDefault, secret } = field.options;
  const problemOf = (config: object): string | null => fieldProblem(field, config, 'request');
  const rule = Rule(
    'config',
    (_value, config) => problemOf(config) === null,
    (_value, config) => problemOf(config) ?? 'is wrong',
  );
  const documented = {
    description,
    ...(field.isOptional ? { optional: true as const } : {}),
    ...(byDefault === undefined ? {} : { default: byDefault }),
    ...(example === undefined ? {} : { example }),
  };
  const schema = secret ? { ...field.schema, format: 'password' } : field.schema;
  defineField(documented, [rule], schema)(prototype, field.name);
}
