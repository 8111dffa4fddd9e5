// Turns a validated body into its DTO, or into a 400 that names the member at fault and never shows a value.
import { Injectable, ValidationPipe } from '@nestjs/common';
import type { ArgumentMetadata } from '@nestjs/common';
import type { ValidationError } from 'class-validator';
import { AppError } from '../domain/errors.js';

// A hundred problems in one answer help nobody.
const MAX_PROBLEMS = 5;
// Far deeper than any body of the contract; the transformer recurses, and some thousands of levels would end the stack.
const MAX_DEPTH = 32;

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
    if (metadata.type === 'body') refuseHostileShape(value, '', 0);
    return super.transform(value, metadata);
  }

  /** Bodies are JSON and all else is text: to look for what is binary would take a seventh of a validation. */
  protected override findNestedBinaryValues(): ValidationError[] {
    return [];
  }
}

/**
 * Refuses what the transformer would fail at or pass over in silence: endless nesting, and members with the names that
 * every object has already (`__proto__`, `constructor`, `toString`).
 */
export function refuseHostileShape(value: unknown, path: string, depth: number): void {
  if (typeof value !== 'object' || value === null) return;
  if (depth > MAX_DEPTH) throw new AppError('invalid_request', { detail: 'the body is nested too deeply' });
  for (const [name, child] of Object.entries(value)) {
    const here = path + member(name, path);
    if (name in Object.prototype) {
      throw new AppError('invalid_request', { detail: `${here}: is not a name that a member may have` });
    }
    refuseHostileShape(child, here, depth + 1);
  }
}

export function validationFailure(errors: readonly ValidationError[]): AppError {
  const problems = errors.flatMap((error) => describe(error, ''));
  const shown = problems.slice(0, MAX_PROBLEMS).join('; ');
  const rest = problems.length - MAX_PROBLEMS;
  return new AppError('invalid_request', { detail: rest > 0 ? `${shown}; and ${rest} more` : shown });
}

/** "config.secretKey: must not be empty", "filter_rules.groups[0].rules: must be an array". */
function describe(error: ValidationError, path: string): string[] {
  const here = path + member(error.property, path);
  const own = Object.entries(error.constraints ?? {}).map(([rule, message]) =>
    rule === 'whitelistValidation' ? `${here}: is not a member of this object` : `${here}: ${message}`,
  );
  return [...own, ...(error.children ?? []).flatMap((child) => describe(child, here))];
}

function member(property: string, path: string): string {
  if (/^\d+$/.test(property)) return `[${property}]`;
  // The name is the caller's text: cut, and without line breaks.
  const name = property.length > 64 ? `${property.slice(0, 64)}...` : property;
  return (path === '' ? '' : '.') + name.replace(/[^\x20-\x7e]/g, '?');
}
