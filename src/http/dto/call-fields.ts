// Members that the bodies of all model calls share: for routing and for traces.
import { plainToInstance } from 'class-transformer';
import { validateSync } from 'class-validator';
import { AppError } from '../../domain/errors.js';
import { isObject } from '../../domain/members.js';
import { NOT_STORABLE } from '../../domain/text/storable-text.js';
import { OPERATION_BODY, rejectHostileShape } from '../fields/json-shape.js';
import { FreeObjectField } from '../fields/compound-fields.js';
import { Rule } from '../fields/field.js';
import { TextField } from '../fields/scalar-fields.js';
import { validationFailure } from '../fields/validation.pipe.js';
import { ProviderPreferencesDto } from './provider-preferences.dto.js';

/** An id of the form vendor/model, a moving alias such as ~vendor/name, or a name without its vendor. */
export const MODEL_NAME = /^~?(?:[\w.-]{1,100}\/[\w.:/-]{1,200}|[\w.:-]{1,200})$/;
const MAX_SESSION_LENGTH = 256;
const MAX_TRACE_LENGTH = 16_384;
// All texts of `provider` together: names and prices.
const MAX_PROVIDER_LENGTH = 2 ** 20;
// A surrogate pair counts as one character.
const UNITS_PER_CHARACTER = 2;

/** The shapes of the members, checked before their rules. */
const PROVIDER_SHAPE = { ...OPERATION_BODY, characters: MAX_PROVIDER_LENGTH };
const TRACE_SHAPE = {
  elements: MAX_TRACE_LENGTH,
  values: MAX_TRACE_LENGTH,
  characters: MAX_TRACE_LENGTH,
  allowsAnyName: true,
};

const isShortTrace = Rule(
  'isShortTrace',
  (trace) => JSON.stringify(trace).length <= MAX_TRACE_LENGTH,
  `must have at most ${MAX_TRACE_LENGTH} characters as JSON`,
);
const isStorableTrace = Rule(
  'isStorableTrace',
  (trace) => !/(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f][0-9a-f]{2})/i.test(JSON.stringify(trace)),
  NOT_STORABLE,
);

export function SessionIdField(): PropertyDecorator {
  return TextField({ optional: true, maxLength: MAX_SESSION_LENGTH, description: 'For tracing only.' });
}

export function TraceField(): PropertyDecorator {
  return FreeObjectField({
    optional: true,
    rules: [isShortTrace, isStorableTrace],
    description: 'For tracing only.',
  });
}

/** The rule of the field counts characters, which takes too long for millions of them. */
export function rejectLongText(member: Readonly<Record<string, unknown>>, most: number): void {
  for (const [name, value] of Object.entries(member)) {
    if (typeof value === 'string' && value.length > UNITS_PER_CHARACTER * most)
      throw new AppError('invalid_request', { detail: `${name}: must have at most ${most} characters` });
  }
}

/** Throws `invalid_request` that names the members at fault. */
function rejectInvalid(dto: object): void {
  const problems = validateSync(dto, {
    whitelist: true,
    forbidNonWhitelisted: true,
    stopAtFirstError: true,
    validationError: { target: false, value: false },
  });
  if (problems.length > 0) throw validationFailure(problems);
}

/** A member that is null is absent (docs/contract.md#conventions), and does not go upstream. */
export function withoutNull(body: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  for (const name in body)
    if (body[name] === null)
      return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null));
  return body;
}

/** Members that the bodies of all model calls share, as they were sent. */
export interface SentCall {
  provider?: ProviderPreferencesDto;
  readonly trace?: unknown;
  readonly user?: unknown;
  readonly session_id?: unknown;
}

/** Validates all members of the class. Throws `invalid_request`. */
export function rejectInvalidCall(dto: SentCall, maxUserLength: number): void {
  const { trace, user, session_id } = dto;
  const provider: unknown = dto.provider;
  rejectHostileShape(provider, ['provider'], PROVIDER_SHAPE);
  rejectHostileShape(trace, ['trace'], TRACE_SHAPE);
  rejectLongText({ user }, maxUserLength);
  rejectLongText({ session_id }, MAX_SESSION_LENGTH);
  if (isObject(provider)) dto.provider = plainToInstance(ProviderPreferencesDto, provider);
  rejectInvalid(dto);
}
