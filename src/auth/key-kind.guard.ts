// Asks: is this the kind of key that the route is for?
import { Injectable } from '@nestjs/common';
import type { CanActivate, ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { AppError } from '../domain/errors.js';
import { KEY_KIND_RULE } from './auth.decorators.js';
import type { KeyKindRule } from './auth.decorators.js';
import { callerOf } from './caller.js';

@Injectable()
export class KeyKindGuard implements CanActivate {
  constructor(private readonly reflector: Reflector) {}

  canActivate(context: ExecutionContext): boolean {
    const rule = this.reflector.getAllAndOverride<KeyKindRule | undefined>(KEY_KIND_RULE, [
      context.getHandler(),
      context.getClass(),
    ]);
    if (rule && callerOf(context.switchToHttp().getRequest()).key.kind !== rule.kind) {
      throw new AppError(rule.refusal);
    }
    return true;
  }
}
