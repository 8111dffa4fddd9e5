// Sign-in of people by an identity provider. Outside the version prefix: browsers alone come here.
import { Controller, Get, Header, Param, Req, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { Public } from '../auth/auth.decorators.js';
import { originOf } from '../auth/caller.js';
import { RateLimiter } from '../auth/rate-limiter.js';
import { toAppError } from '../domain/errors.js';
import { sessionCookie } from '../domain/people/console-session.js';
import { requestIdOf } from '../http/errors/request-id.js';
import { InTrafficClass } from '../http/load-shedding/load-shedding.guard.js';
import type { Data } from '../http/openapi/envelopes.js';
import { SignInProviders } from '../people/sign-in-providers.js';
import { SignInRefused } from '../people/sign-in-refused.js';
import { SignInService } from '../people/sign-in.service.js';
import { sendHtmlPage } from './html-page.js';
import { SessionsService } from './sessions.service.js';
import { pageOfError, pageOfRefusal } from './sign-in-pages.js';

interface ProviderButton {
  readonly id: string;
  readonly name: string;
}

/** A click on our page, and an address that a person types. A link of another site must begin no sign-in. */
const OWN_SITES: ReadonlySet<unknown> = new Set(['same-origin', 'none']);

@ApiExcludeController()
@Controller('console/sign-in')
export class SignInController {
  constructor(
    private readonly providers: SignInProviders,
    private readonly signIns: SignInService,
    private readonly sessions: SessionsService,
    private readonly rateLimiter: RateLimiter,
  ) {}

  /** The buttons of the sign-in page. */
  @Get()
  @Public()
  @InTrafficClass('public')
  @Header('Cache-Control', 'no-store')
  list(): Data<ProviderButton[]> {
    return { data: this.providers.all.map(({ config: { id, name } }) => ({ id, name })) };
  }

  @Get(':id')
  @Public()
  @InTrafficClass('public')
  async begin(@Req() request: Request, @Res() response: Response, @Param('id') id: string): Promise<void> {
    const issuer = this.providers.find(id);
    const returnTo = queryOf(request).get('return_to');
    response.set('Cache-Control', 'no-store');
    if (issuer === null || !OWN_SITES.has(request.headers['sec-fetch-site'])) {
      response.redirect(303, this.signIns.signInPage(returnTo));
      return;
    }
    try {
      const { location, cookie } = await this.signIns.begin(issuer, returnTo);
      response.append('Set-Cookie', cookie);
      response.redirect(303, location);
    } catch (error) {
      this.sendError(request, response, error);
    }
  }

  /** A navigation from the site of the issuer: the browser sends the cookie of the sign-in, and none of a session. */
  @Get(':id/callback')
  @Public()
  @InTrafficClass('public')
  async complete(@Req() request: Request, @Res() response: Response, @Param('id') id: string): Promise<void> {
    response.set('Cache-Control', 'no-store');
    try {
      response.append('Set-Cookie', await this.signIns.endedCookie());
      const { sessionId, returnUrl } = await this.identify(request, id);
      // A navigation has no origin, and a proxy may send its own name of this host.
      const headers = { ...request.headers, origin: this.signIns.publicOrigin };
      response.append('Set-Cookie', sessionCookie(sessionId, headers, await this.sessions.tag()));
      response.redirect(303, returnUrl);
    } catch (error) {
      this.sendError(request, response, error);
    }
  }

  /** Every failure counts as a failed authentication, except an issuer that is out of reach. */
  private async identify(request: Request, id: string): ReturnType<SignInService['complete']> {
    const issuer = this.providers.find(id);
    try {
      if (issuer === null) throw new SignInRefused('not_begun', 'no provider has this id');
      return await this.signIns.complete(issuer, {
        query: queryOf(request),
        cookies: request.headers.cookie,
        origin: originOf(request),
      });
    } catch (error) {
      if (error instanceof SignInRefused && error.refusal !== 'unavailable')
        await this.rateLimiter.countFailedAuthentication(request.ip ?? '');
      throw error;
    }
  }

  private sendError(request: Request, response: Response, error: unknown): void {
    const requestId = requestIdOf(request);
    const signInPage = this.signIns.signInPage(null);
    if (error instanceof SignInRefused) {
      this.signIns.logRefusal(error, requestId);
      sendHtmlPage(response, pageOfRefusal(error, requestId, signInPage));
      return;
    }
    const known = toAppError(error);
    this.signIns.logFailure(known, requestId);
    sendHtmlPage(response.set(known.headers), pageOfError(known, requestId, signInPage));
  }
}

function queryOf({ originalUrl }: Request): URLSearchParams {
  return new URLSearchParams(originalUrl.split('?', 2)[1] ?? '');
}
