// Checks that the route allows the caller's kind of key.
import { Injectable } from '@nestjs/common';
import type { CanActivate, ExecutionContext } from '@nestjs/common';
import { AppError } from '../domain/errors.js';
import { KEY_KIND } from './auth.decorators.js';
import { callerOf } from './caller.js';

@Injectable()
export class KeyKindGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const rule = KEY_KIND.of(context);
    if (rule && callerOf(context.switchToHttp().getRequest()).key.kind !== rule.kind) {
      throw new AppError(rule.rejection);
    }
    return true;
  }
}
