// The way to the service: the public API by its OpenAPI types, and the session operations, which are not part of it.
import createClient from 'openapi-fetch';
import { CONSOLE_HEADERS } from '../app/first-paint';
import { urlOf } from '../base-path';
import { saveCsv } from './csv';
import type { components, paths } from './generated/schema';

export type { paths };

export type Schemas = components['schemas'];

/** An answer that is not a success. */
export class ApiError extends Error {
  override readonly name = 'ApiError';

  constructor(
    readonly status: number,
    message: string,
    readonly requestId: string | null,
    readonly metadata: Readonly<Record<string, unknown>>,
  ) {
    super(message);
  }
}

/** No answer arrived. */
export class NetworkError extends Error {
  override readonly name = 'NetworkError';

  constructor(cause: unknown) {
    super('The service cannot be reached.', { cause });
  }
}

/** An answer began and did not end. The service may be reachable. */
export class CutStreamError extends Error {
  override readonly name = 'CutStreamError';

  constructor(cause: unknown) {
    super('The answer ended before it was complete.', { cause });
  }
}

async function send(request: Request): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(request);
  } catch (error) {
    if (request.signal.aborted) throw error;
    throw new NetworkError(error);
  }
  if (response.ok) return response;
  throw await toApiError(response);
}

interface ErrorBody {
  readonly error?: {
    readonly message?: string;
    readonly metadata?: Readonly<Record<string, unknown>> | null;
  };
}

async function toApiError(response: Response): Promise<ApiError> {
  const body = (await response.json().catch(() => ({}))) as ErrorBody | null;
  const message = body?.error?.message ?? `The service answered ${response.status}.`;
  return new ApiError(
    response.status,
    message,
    response.headers.get('x-request-id'),
    body?.error?.metadata ?? {},
  );
}

/** Operations by their path in openapi.json. Rejects with ApiError or NetworkError; use it inside `call`. */
export const api = createClient<paths>({ baseUrl: urlOf('/'), headers: CONSOLE_HEADERS, fetch: send });

/** The body of a successful answer: `await call(api.GET('/api/v1/keys'))`. Text is CSV, which only `downloadCsv` requests. */
export async function call<Body>(answer: Promise<{ data?: Body }>): Promise<Exclude<Body, string>> {
  const { data } = await answer;
  return data as Exclude<Body, string>;
}

export interface ConsoleAnswer<Body> {
  readonly body: Body;
  readonly headers: Headers;
}

/** For the operations under /console, which openapi.json does not describe. The body is not read yet. */
export function openConsole(
  method: string,
  path: `/console/${string}`,
  body?: unknown,
  signal?: AbortSignal,
): Promise<Response> {
  return send(
    new Request(urlOf(path), {
      method,
      headers: { ...CONSOLE_HEADERS, ...(body === undefined ? {} : { 'Content-Type': 'application/json' }) },
      body: body === undefined ? null : JSON.stringify(body),
      signal: signal ?? null,
    }),
  );
}

/** With its body, which is JSON. */
export async function askConsole<Body>(
  method: string,
  path: `/console/${string}`,
  body?: unknown,
): Promise<ConsoleAnswer<Body>> {
  const response = await openConsole(method, path, body);
  return { body: (await response.json()) as Body, headers: response.headers };
}

/** The body alone. */
export async function sendConsole<Body>(
  method: string,
  path: `/console/${string}`,
  body?: unknown,
): Promise<Body> {
  return (await askConsole<Body>(method, path, body)).body;
}

type Query = Readonly<Record<string, string | number | boolean | undefined>>;

export interface CsvList {
  readonly path: `/api/v1/${string}`;
  readonly query: Query;
  /** The name of the file, without its ending. */
  readonly name: string;
}

// Pages of 100 rows each.
const MAX_PAGES = 100;

/** A list as a file of the browser, page by page. `isWhole`: the file has all rows. */
export async function downloadCsv({ path, query, name }: CsvList): Promise<{ readonly isWhole: boolean }> {
  const present = Object.entries(query).filter(([, value]) => value !== undefined);
  const search = new URLSearchParams(present.map(([member, value]) => [member, String(value)]));
  const parts: string[] = [];
  let next: string | null = `${urlOf(path)}?${search.toString()}`;
  while (next !== null && parts.length < MAX_PAGES) {
    const page: CsvPage = await loadCsvPage(next);
    // Every page begins with the line of names.
    parts.push(parts.length === 0 ? page.text : page.text.slice(page.text.indexOf('\n') + 1));
    next = page.next;
  }
  saveCsv(name, parts);
  return { isWhole: next === null };
}

interface CsvPage {
  readonly text: string;
  readonly next: string | null;
}

async function loadCsvPage(url: string): Promise<CsvPage> {
  const headers = { ...CONSOLE_HEADERS, Accept: 'text/csv' };
  const response = await send(new Request(url, { headers }));
  const [, next = null] = /^<(.*)>; rel="next"$/.exec(response.headers.get('link') ?? '') ?? [];
  return { text: await response.text(), next };
}

/** Whether the service answers again. */
export async function isReachable(): Promise<boolean> {
  try {
    await fetch(urlOf('/health'), { cache: 'no-store' });
    return true;
  } catch {
    return false;
  }
}
