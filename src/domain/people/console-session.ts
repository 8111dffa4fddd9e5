// Sessions of the console (docs/contract.md#console): an opaque id in a cookie presents the secret, or the
// person, that signed in.
import { hash, randomBytes } from 'node:crypto';
import { cookieValue, HOST_PREFIX, writeHostCookie } from '../host-cookie.js';
import type { Caller } from '../keys/api-key.js';
import type { Person } from './person.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
/** Milliseconds. A session ends after this time without a request, and after this time in any case. */
const MAX_IDLE = 12 * HOUR;
const MAX_SESSION_AGE = 7 * 24 * HOUR;
// Milliseconds between two records of use.
const SEEN_RESOLUTION = MINUTE;

const NAME = 'signalbox_session';
const ID = /^[\w-]{43}$/;

interface AnySession {
  readonly idHash: string;
  readonly createdAt: Date;
  readonly lastSeenAt: Date;
  /** However much it is used. */
  readonly endsAt: Date;
}

export interface KeySession extends AnySession {
  /** The hash of the secret that signed in. */
  readonly secretHash: string;
  readonly personId: null;
}

export interface PersonSession extends AnySession {
  readonly secretHash: null;
  readonly personId: string;
}

export type ConsoleSession = KeySession | PersonSession;

/** The key behind a session, and the session. */
export interface SessionCaller extends Caller {
  readonly session: KeySession;
}

/** The person behind a session, and the session. */
export interface SessionPerson {
  readonly person: Person;
  readonly session: PersonSession;
}

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** 256 random bits. Only its hash is stored. */
export function createSessionId(): string {
  return randomBytes(32).toString('base64url');
}

export function hashSessionId(id: string): string {
  return hash('sha256', id, 'hex');
}

/** The end of a key's session that begins now. */
export function endOfKeySession(now: Date): Date {
  return new Date(now.getTime() + MAX_SESSION_AGE);
}

export function isSessionLive({ endsAt, lastSeenAt }: ConsoleSession, now: Date): boolean {
  return now < endsAt && now.getTime() - lastSeenAt.getTime() < MAX_IDLE;
}

export function isSightingDue({ lastSeenAt }: ConsoleSession, now: Date): boolean {
  return now.getTime() - lastSeenAt.getTime() >= SEEN_RESOLUTION;
}

/**
 * The id in the request's cookie; null: none. The name without the prefix counts on loopback alone, because another
 * host of the same site could set it. Browsers send cookies to every port of a host: their names have the tag of the
 * installation.
 */
export function presentedSession(headers: Headers, tag: string): string | null {
  const { cookie } = headers;
  if (typeof cookie !== 'string') return null;
  const name = nameOf(tag);
  const id =
    cookieValue(cookie, HOST_PREFIX + name) ?? (isOnLoopback(headers) ? cookieValue(cookie, name) : null);
  return id !== null && ID.test(id) ? id : null;
}

/** Whether a request has a cookie of a session, of whatever installation. */
export function mayHaveSession({ cookie }: Headers): boolean {
  return typeof cookie === 'string' && cookie.includes(NAME);
}

/** Whether a page of this origin sent the request. A form of another site can neither set the second header. */
export function isFromConsole(method: string, headers: Headers): boolean {
  if (headers['sec-fetch-site'] !== 'same-origin') return false;
  return method === 'GET' || method === 'HEAD' || headers['x-signalbox-console'] === '1';
}

/** Browsers state the site of every request; clients that are no browsers state none. */
export function isCrossSite(headers: Headers): boolean {
  const { 'sec-fetch-site': site } = headers;
  return site !== undefined && site !== 'same-origin';
}

/** The `Set-Cookie` header of a new session. The browser forgets it when no session of a key would still last. */
export function sessionCookie(id: string, headers: Headers, tag: string): string {
  return writeCookie(isOnLoopback(headers), tag, id, MAX_SESSION_AGE / 1_000);
}

/** The `Set-Cookie` headers that remove the session's cookie, whatever its name. */
export function endedSessionCookies(headers: Headers, tag: string): readonly string[] {
  return isOnLoopback(headers)
    ? [writeCookie(true, tag, '', 0), writeCookie(false, tag, '', 0)]
    : [writeCookie(false, tag, '', 0)];
}

function nameOf(tag: string): string {
  return `${NAME}_${tag}`;
}

function writeCookie(isLoopback: boolean, tag: string, value: string, seconds: number): string {
  return writeHostCookie({
    name: nameOf(tag),
    value,
    seconds,
    sameSite: 'Strict',
    isSecure: !isLoopback,
  });
}

/** A proxy may send its own name of this host: the browser's origin and the forwarded host count as well. */
function isOnLoopback(headers: Headers): boolean {
  const { host, origin, 'x-forwarded-host': forwarded } = headers;
  if (!isLoopbackHost(host) || (forwarded !== undefined && !isLoopbackHost(forwarded))) return false;
  return typeof origin !== 'string' || isLoopbackHost(origin.replace(/^https?:\/\//, ''));
}

/** With a port or without. */
export function isLoopbackHost(host: string | string[] | undefined): boolean {
  return (
    typeof host === 'string' &&
    /^(?:(?:[\w-]+\.)*localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d+)?$/i.test(host)
  );
}
