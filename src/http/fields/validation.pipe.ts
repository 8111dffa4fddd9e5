// Turns a validated body into its DTO, or into a 400 that names the member at fault and never shows a value.
import { Injectable, ValidationPipe } from '@nestjs/common';
import type { ArgumentMetadata } from '@nestjs/common';
import type { ValidationError, ValidatorOptions } from 'class-validator';
import { AppError } from '../../domain/errors.js';
import { pathPart } from '../../domain/text/member-path.js';
import { OPERATION_BODY, rejectHostileShape } from './json-shape.js';
import { withoutReadOnlyMembers } from './record-members.js';

// A hundred problems in one response are unreadable.
const MAX_PROBLEMS = 5;

const lenientClasses = new WeakSet<object>();

/** Drops members that the class and its subclasses do not have, instead of rejecting them (docs/contract.md#conventions). */
export function IgnoresUnknownMembers(): ClassDecorator {
  return (dto) => void lenientClasses.add(dto);
}

@Injectable()
export class RequestValidationPipe extends ValidationPipe {
  constructor() {
    super({
      transform: true,
      whitelist: true,
      forbidNonWhitelisted: true,
      stopAtFirstError: true,
      // Names in messages are ours; values and whole objects stay out of the errors.
      validationError: { target: false, value: false },
      exceptionFactory: validationFailure,
    });
  }

  override async transform(value: unknown, metadata: ArgumentMetadata): Promise<unknown> {
    if (metadata.type !== 'body') return super.transform(value, metadata);
    rejectHostileShape(value, [], OPERATION_BODY);
    return super.transform(withoutReadOnlyMembers(value, metadata.metatype), metadata);
  }

  protected override validate(
    body: object,
    options?: ValidatorOptions,
  ): ReturnType<ValidationPipe['validate']> {
    const isLenient = isIn(lenientClasses, body.constructor);
    return super.validate(body, isLenient ? { ...options, forbidNonWhitelisted: false } : options);
  }

  /** Bodies are JSON and the rest is text: the search for binary values would take a seventh of a validation. */
  protected override findNestedBinaryValues(): ValidationError[] {
    return [];
  }
}

function isIn(classes: WeakSet<object>, dto: unknown): boolean {
  if (typeof dto !== 'function') return false;
  return classes.has(dto) || isIn(classes, Object.getPrototypeOf(dto));
}

export function validationFailure(errors: readonly ValidationError[]): AppError {
  const problems = errors.flatMap((error) => describe(error, ''));
  const shown = problems.slice(0, MAX_PROBLEMS).join('; ');
  const rest = problems.length - MAX_PROBLEMS;
  return new AppError('invalid_request', { detail: rest > 0 ? `${shown}; and ${rest} more` : shown });
}

/** "config.secretKey: must not be empty", "filter_rules.groups[0].rules: must be an array". */
function describe(error: ValidationError, path: string): string[] {
  const here = path + pathPart(error.property, path === '');
  const own = Object.entries(error.constraints ?? {}).map(([rule, message]) =>
    rule === 'whitelistValidation' ? `${here}: is not a member of this object` : `${here}: ${message}`,
  );
  return [...own, ...(error.children ?? []).flatMap((child) => describe(child, here))];
}
