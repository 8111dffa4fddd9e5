// Fields that hold several values: lists, objects of another class, free objects, and values of more than one type.
import { Type } from 'class-transformer';
import {
  ArrayMaxSize,
  ArrayMinSize,
  ArrayUnique,
  IsArray,
  IsIn,
  IsObject,
  ValidateNested,
} from 'class-validator';
import { defineField } from './field.js';
import type { FieldOptions, FieldSchema } from './field.js';

type BodyClass = new () => object;

interface ListOptions extends FieldOptions {
  /** Every element is one of these. */
  readonly values?: readonly string[];
  /** The values that the schema and the message show, where a transformation accepts more. */
  readonly documentedValues?: readonly string[];
  readonly minItems?: number;
  readonly maxItems?: number;
  /** A bound that the schema does not show. */
  readonly hiddenMinItems?: number;
  readonly hiddenMaxItems?: number;
  readonly minItemsMessage?: string;
  readonly unique?: true;
}

/** A list of texts or numbers. `rules` are for its elements. */
export function ListField(
  type: StringConstructor | NumberConstructor | ObjectConstructor,
  { values, documentedValues = values, unique, rules = [], ...options }: ListOptions = {},
): PropertyDecorator {
  const elements = [...rules];
  if (values) {
    const message = `must hold only ${(documentedValues ?? values).join(', ')}`;
    elements.unshift(IsIn([...values], { each: true, message }));
  }
  if (unique) elements.push(ArrayUnique({ message: 'must not repeat an element' }));
  const schema = { type: [type], ...(documentedValues ? { enum: [...documentedValues] } : {}) };
  return listField({ ...options, rules: elements }, [], schema);
}

/** A list of objects of a class, whose fields are validated. */
export function ObjectListField(
  of: BodyClass,
  { elementMessage, ...options }: ListOptions & { readonly elementMessage?: string } = {},
): PropertyDecorator {
  const nested = [
    ValidateNested({ each: true, message: elementMessage ?? 'must be an object' }),
    Type(() => of),
  ];
  return listField(options, nested, { type: [of] });
}

function listField(
  { minItems, maxItems, hiddenMinItems, hiddenMaxItems, minItemsMessage, ...options }: ListOptions,
  nested: readonly PropertyDecorator[],
  schema: FieldSchema,
): PropertyDecorator {
  const least = minItems ?? hiddenMinItems;
  const most = maxItems ?? hiddenMaxItems;
  const rules = [
    ...nested,
    IsArray({ message: options.nullable ? 'must be an array or null' : 'must be an array' }),
  ];
  if (least !== undefined) {
    rules.push(ArrayMinSize(least, { message: minItemsMessage ?? `must have at least ${least} element` }));
  }
  if (most !== undefined) rules.push(ArrayMaxSize(most, { message: `must have at most ${most} elements` }));
  return defineField(options, rules, {
    ...schema,
    ...(minItems === undefined ? {} : { minItems }),
    ...(maxItems === undefined ? {} : { maxItems }),
  });
}

/** An object of a class, whose fields are validated. */
export function ObjectField(of: BodyClass, options: FieldOptions = {}): PropertyDecorator {
  const message = 'must be an object';
  const rules = [
    IsObject({ message: options.nullable ? `${message} or null` : message }),
    ValidateNested({ message }),
    Type(() => of),
  ];
  return defineField(options, rules, { type: of });
}

/** An object with any members. */
export function FreeObjectField({
  members = true,
  ...options
}: FieldOptions & { readonly members?: true | FieldSchema } = {}): PropertyDecorator {
  return defineField(options, [IsObject({ message: 'must be an object' })], {
    type: 'object',
    additionalProperties: members,
  });
}

/** A value whose schema and rules have no field of their own. It needs at least one rule. */
export function CustomField(
  schema: FieldSchema,
  options: FieldOptions & { readonly rules: readonly PropertyDecorator[] },
): PropertyDecorator {
  return defineField(options, [], schema);
}
