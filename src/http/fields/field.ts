// A field of a request or response body: one declaration carries the type, the rules, the default, the documentation and
// the secrecy. Validation and OpenAPI are both derived from it.
import { ApiProperty } from '@nestjs/swagger';
import { ValidateBy, ValidateIf } from 'class-validator';

export interface FieldOptions {
  readonly description?: string;
  readonly example?: unknown;
  readonly deprecated?: true;
  /** The member may be absent. A field with a default is optional as well. */
  readonly optional?: true;
  /** The documented default; the initialiser of the property sets it. */
  readonly default?: unknown;
  /** Null is a value of its own, and exempt from the rules. */
  readonly nullable?: true;
  /** Rules beyond those of the field's type. They apply after them, in this order. */
  readonly rules?: readonly PropertyDecorator[];
}

/** The schema of a field, without what every field has. */
export type FieldSchema = Readonly<Record<string, unknown>>;

// Where @nestjs/swagger keeps the members of a class, each after a colon.
const DOCUMENTED = 'swagger/apiModelPropertiesArray';

/** The names of all fields of a class, inherited ones included. */
export function membersOf({ prototype }: { readonly prototype: object }): readonly string[] {
  const members = (Reflect.getMetadata(DOCUMENTED, prototype) ?? []) as readonly string[];
  return members.map((member) => member.slice(1));
}

/** Declares a field. With `stopAtFirstError`, the first rule of the list that fails is the one that is reported. */
export function defineField(
  { rules: furtherRules = [], optional, ...documented }: FieldOptions,
  rules: readonly PropertyDecorator[],
  schema: FieldSchema,
): PropertyDecorator {
  const isOptional = optional === true || documented.default !== undefined;
  const isNullable = documented.nullable === true;
  return (target, name) => {
    for (const rule of [...rules, ...furtherRules]) rule(target, name);
    if (isOptional || isNullable) {
      ValidateIf(
        (_object, value: unknown) => !(isOptional && value === undefined) && !(isNullable && value === null),
      )(target, name);
    }
    ApiProperty({ required: !isOptional, ...schema, ...documented })(target, name);
  };
}

/** Documents the default that a subclass gives to an inherited field. */
export function WithDefault(value: unknown): PropertyDecorator {
  return ApiProperty({ default: value, required: false });
}

/** A rule with a message of its own. It receives the whole body as well, for rules that compare members. */
export function Rule(
  name: string,
  validate: (value: unknown, body: object) => boolean,
  message: string | ((value: unknown, body: object) => string),
): PropertyDecorator {
  return ValidateBy({
    name,
    validator: {
      validate: (value: unknown, validation) => validate(value, validation?.object ?? {}),
      defaultMessage: (validation) =>
        typeof message === 'string' ? message : message(validation?.value, validation?.object ?? {}),
    },
  });
}
