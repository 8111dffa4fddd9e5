// When the rules of a member hold: an absent member is not judged.
import { ValidateIf } from 'class-validator';

export const IfGiven = (): PropertyDecorator => ValidateIf((_object, value: unknown) => value !== undefined);

/** For members whose null says something. */
export const IfGivenAndNotNull = (): PropertyDecorator =>
  ValidateIf((_object, value: unknown) => value !== undefined && value !== null);
