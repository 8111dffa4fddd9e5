// The rules of a member do not apply to an absent member.
import { ValidateIf } from 'class-validator';

export const IfGiven = (): PropertyDecorator => ValidateIf((_object, value: unknown) => value !== undefined);
