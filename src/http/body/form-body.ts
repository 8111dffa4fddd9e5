// Bodies in the form of application/x-www-form-urlencoded, which OAuth's token endpoint takes (RFC 6749, section 3.2).
import type { ExecutionContext } from '@nestjs/common';
import { RouteRule } from '../../config/route-rule.js';
import type { RouteDecorator } from '../../config/route-rule.js';
import { AppError } from '../../domain/errors.js';

const FORM = new RouteRule<true>('http:form');
export const FORM_TYPE = 'application/x-www-form-urlencoded';
const FORM_TYPE_HEADER = /^application\/x-www-form-urlencoded\s*(?:;|$)/i;
/** Bytes: several times the longest token. */
export const MAX_FORM_BYTES = 65_536;
const MAX_PARAMETERS = 50;

/** The route takes a form, and no JSON. */
export const TakesForm = (): RouteDecorator => FORM.is(true);

export function takesForm(context: ExecutionContext): boolean {
  return FORM.of(context) === true;
}

export function isForm(contentType: string): boolean {
  return FORM_TYPE_HEADER.test(contentType);
}

/** Parameters by name. One without a value is absent, and none may be repeated. */
export function parseForm(bytes: Buffer): Readonly<Record<string, string>> {
  const parameters = [...new URLSearchParams(bytes.toString('utf8'))];
  if (parameters.length > MAX_PARAMETERS)
    throw new AppError('invalid_request', {
      detail: `the form must have at most ${MAX_PARAMETERS} parameters`,
    });
  if (new Set(parameters.map(([name]) => name)).size < parameters.length)
    throw new AppError('invalid_request', { detail: 'a parameter of the form must not be repeated' });
  return Object.fromEntries(parameters.filter(([, value]) => value !== ''));
}
