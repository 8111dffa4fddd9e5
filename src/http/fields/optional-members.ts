// Conditions of a member's rules: they do not apply to an absent member.
import { ValidateIf } from 'class-validator';

export const IfGiven = (): PropertyDecorator => ValidateIf((_object, value: unknown) => value !== undefined);

/** For members whose null has a meaning. */
export const IfGivenAndNotNull = (): PropertyDecorator =>
  ValidateIf((_object, value: unknown) => value !== undefined && value !== null);
