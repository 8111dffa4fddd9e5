// Sign-in at one issuer: authorization code with PKCE, state and nonce. No token leaves this file.
import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  buildEndSessionUrl,
  calculatePKCECodeChallenge,
  ClientSecretBasic,
  ClientSecretPost,
  clockSkew,
  clockTolerance,
  Configuration,
  customFetch,
  enableNonRepudiationChecks,
  fetchUserInfo,
  getJwksCache,
  None,
  randomNonce,
  randomPKCECodeVerifier,
  randomState,
  setJwksCache,
} from 'openid-client';
import type { ClientAuth, CustomFetch, ExportedJWKSCache, ServerMetadata } from 'openid-client';
import type { SignInProviderConfig } from '../../config/sign-in-config.js';
import type { Clock } from '../../domain/clock.js';
import { readGroups, readIdentity } from '../../domain/people/claims.js';
import type { Claims, Identity } from '../../domain/people/claims.js';
import { IssuerDiscovery } from './issuer-discovery.js';
import type { DiscoveryState } from './issuer-discovery.js';
import { InvalidAnswer, toSignInError } from './issuer-errors.js';

/** Seconds that the clocks of issuer and database may differ. */
const TOLERANCE = 60;
const CHALLENGE_METHOD = 'S256';

/** The values that bind an answer to the browser that began. */
export interface SignInChecks {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
}

export function newSignInChecks(): SignInChecks {
  return { state: randomState(), nonce: randomNonce(), verifier: randomPKCECodeVerifier() };
}

export class Issuer {
  private readonly discovery: IssuerDiscovery;
  private jwks: ExportedJWKSCache | null = null;

  constructor(
    readonly config: SignInProviderConfig,
    /** Never of the request's host. */
    readonly redirectUrl: string,
    private readonly fetch: CustomFetch,
    private readonly clock: Clock,
  ) {
    this.discovery = new IssuerDiscovery(config, fetch, clock);
  }

  get state(): DiscoveryState {
    return this.discovery.state;
  }

  /** Where the browser signs in. Throws IssuerUnavailable. */
  async authorizationUrl({ state, nonce, verifier }: SignInChecks): Promise<string> {
    const url = buildAuthorizationUrl(this.clientOf(await this.discovery.find()), {
      redirect_uri: this.redirectUrl,
      response_mode: 'query',
      scope: this.config.scopes,
      state,
      nonce,
      code_challenge: await calculatePKCECodeChallenge(verifier),
      code_challenge_method: CHALLENGE_METHOD,
    });
    return url.href;
  }

  /**
   * The person that the issuer signed in. `query` is that of the callback. Throws IssuerUnavailable, IssuerRefused or
   * InvalidAnswer.
   */
  async identify(query: URLSearchParams, checks: SignInChecks): Promise<Identity> {
    const client = this.clientOf(await this.discovery.find());
    try {
      return await this.exchange(client, query, checks);
    } catch (error) {
      throw toSignInError(error);
    } finally {
      this.jwks = getJwksCache(client) ?? null;
    }
  }

  /** Where the browser ends its session at the issuer; null: the issuer has no such address, or cannot be reached. */
  async endSessionUrl(): Promise<string | null> {
    const metadata = await this.discovery.find().catch(() => null);
    return metadata?.end_session_endpoint === undefined
      ? null
      : buildEndSessionUrl(this.clientOf(metadata)).href;
  }

  private async exchange(
    client: Configuration,
    query: URLSearchParams,
    { state, nonce, verifier }: SignInChecks,
  ): Promise<Identity> {
    const callback = new URL(this.redirectUrl);
    callback.search = query.toString();
    const tokens = await authorizationCodeGrant(client, callback, {
      expectedState: state,
      expectedNonce: nonce,
      pkceCodeVerifier: verifier,
      idTokenExpected: true,
    });
    const claims = tokens.claims();
    if (claims === undefined) throw new InvalidAnswer('the answer has no ID token');
    this.checkParty(claims);
    this.checkTime(claims);
    const userInfo = this.needsUserInfo(client, claims)
      ? await fetchUserInfo(client, tokens.access_token, claims.sub)
      : null;
    const identity = readIdentity(claims, userInfo, this.config.groupsClaim);
    if (identity === null) throw new InvalidAnswer('the subject is empty, too long or not storable');
    return identity;
  }

  /** The library checks `azp` only where there are several audiences. */
  private checkParty({ azp }: Claims): void {
    if (azp !== undefined && azp !== this.config.clientId)
      throw new InvalidAnswer('the ID token is for another party (azp)');
  }

  /** The library accepts an ID token from the future. */
  private checkTime({ iat }: Claims): void {
    const now = this.clock.now().getTime() / 1_000;
    if (typeof iat !== 'number' || iat > now + TOLERANCE)
      throw new InvalidAnswer('the ID token is issued in the future (iat)');
  }

  private needsUserInfo(client: Configuration, claims: Claims): boolean {
    if (client.serverMetadata().userinfo_endpoint === undefined) return false;
    return claims['email'] === undefined || readGroups(claims, this.config.groupsClaim).state === 'missing';
  }

  /** One for each exchange: its clock is the database's of now. The keys of the issuer are shared. */
  private clientOf(metadata: Readonly<ServerMetadata>): Configuration {
    const { clientId, issuer } = this.config;
    const skew = Math.round((this.clock.now().getTime() - Date.now()) / 1_000);
    const client = new Configuration(
      metadata,
      clientId,
      { [clockSkew]: skew, [clockTolerance]: TOLERANCE },
      this.authenticationFor(metadata),
    );
    client[customFetch] = this.fetch;
    if (new URL(issuer).protocol === 'http:') allowInsecureRequests(client);
    enableNonRepudiationChecks(client);
    if (this.jwks !== null) setJwksCache(client, this.jwks);
    return client;
  }

  /** The standard's default is Basic; issuers that name methods are believed. */
  private authenticationFor({
    token_endpoint_auth_methods_supported: methods,
  }: Readonly<ServerMetadata>): ClientAuth {
    const { clientSecret } = this.config;
    if (clientSecret === null) return None();
    const hasBasic = methods === undefined || methods.includes('client_secret_basic');
    return hasBasic ? ClientSecretBasic(clientSecret) : ClientSecretPost(clientSecret);
  }
}
