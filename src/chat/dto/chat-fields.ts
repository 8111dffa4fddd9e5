// The fields of a chat body that are neither scalars nor messages. Contract: docs/contract.md#chat-request.
import { isObject } from '../../domain/members.js';
import { isStorableText } from '../../domain/text/storable-text.js';
import { CustomField } from '../../http/fields/compound-fields.js';
import { Rule } from '../../http/fields/field.js';
import { NumberField, TextField } from '../../http/fields/scalar-fields.js';

const MAX_BIAS = 100;
const MAX_BIASES = 1_024;
const MAX_STOPS = 4;
const MAX_METADATA = { pairs: 16, name: 64, value: 512 } as const;

/** A number between two bounds, both included. */
export function RangeField(minimum: number, maximum: number, description?: string): PropertyDecorator {
  return NumberField({
    optional: true,
    minimum,
    maximum,
    rangeMessage: `must be from ${minimum} to ${maximum}`,
    ...(description === undefined ? {} : { description }),
  });
}

interface CheckedOptions {
  readonly description?: string;
  readonly message: string;
  readonly schema?: Readonly<Record<string, unknown>>;
  readonly example?: unknown;
}

/** A member whose form a function checks. */
export function CheckedField(
  isValid: (value: unknown) => boolean,
  { message, schema = { type: 'object', additionalProperties: true }, ...documented }: CheckedOptions,
): PropertyDecorator {
  return CustomField(schema, { ...documented, optional: true, rules: [Rule('isValid', isValid, message)] });
}

export function PresetField(): PropertyDecorator {
  return TextField({
    optional: true,
    hiddenMaxLength: 64,
    description: 'The slug of a preset of the workspace: its members count where the request has none.',
  });
}

export function StopField(): PropertyDecorator {
  return CheckedField((value) => typeof value === 'string' || isListOfTexts(value, MAX_STOPS), {
    message: `must be a string, or at most ${MAX_STOPS} strings`,
    schema: {
      oneOf: [{ type: 'string' }, { type: 'array', maxItems: MAX_STOPS, items: { type: 'string' } }],
    },
    description: 'Texts at which the answer ends.',
  });
}

export function LogitBiasField(): PropertyDecorator {
  const isBias = (value: unknown): boolean => isNumberWithin(value, -MAX_BIAS, MAX_BIAS);
  return CheckedField(
    (value) =>
      isObject(value) &&
      Object.keys(value).length <= MAX_BIASES &&
      Object.entries(value).every(([token, bias]) => /^\d{1,10}$/.test(token) && isBias(bias)),
    {
      message: `must be an object of at most ${MAX_BIASES} numbers from -${MAX_BIAS} to ${MAX_BIAS} by token id`,
      schema: { type: 'object', additionalProperties: { type: 'number' } },
    },
  );
}

export function FlagObjectField(name: string, description: string): PropertyDecorator {
  const isFlag = (value: unknown): boolean =>
    value === undefined || value === null || typeof value === 'boolean';
  return CheckedField((value) => isObject(value) && isFlag(value[name]), {
    message: `must be an object whose ${name} is a boolean`,
    schema: { type: 'object', properties: { [name]: { type: 'boolean' } }, additionalProperties: true },
    description,
  });
}

export function MetadataField(): PropertyDecorator {
  const { pairs, name, value: longest } = MAX_METADATA;
  return CheckedField(
    (value) =>
      isObject(value) &&
      Object.keys(value).length <= pairs &&
      Object.entries(value).every(
        ([key, text]) =>
          key.length <= name &&
          typeof text === 'string' &&
          text.length <= longest &&
          isStorableText(key) &&
          isStorableText(text),
      ),
    {
      message:
        `must be an object of at most ${pairs} texts of at most ${longest} characters, named with at most ${name}, ` +
        'without NUL and half a surrogate pair',
      schema: {
        type: 'object',
        maxProperties: pairs,
        additionalProperties: { type: 'string', maxLength: longest },
      },
      description: 'Recorded as `metadata.*` of the trace; not sent to providers.',
    },
  );
}

export function isListOfTexts(value: unknown, most: number): value is string[] {
  return Array.isArray(value) && value.length <= most && value.every((text) => typeof text === 'string');
}

function isNumberWithin(value: unknown, least: number, most: number): boolean {
  return typeof value === 'number' && value >= least && value <= most;
}
