// Checks the service's answers against openapi.json: every status declared, every member documented, every type right.
import { readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { ValidateFunction } from 'ajv/dist/2020.js';
import * as formats from 'ajv-formats';

interface Operation {
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, object>> }>>;
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

// Larger answers repeat the same shape; reading them all would slow every suite down.
const MAX_VALIDATED_BYTES = 200_000;
const DOCUMENT_ID = 'signalbox';

/** A schema that names its members has no others. */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed);
  if (typeof schema !== 'object' || schema === null) return schema;
  const members = Object.fromEntries(Object.entries(schema).map(([name, value]) => [name, closed(value)]));
  const isObject = typeof members['properties'] === 'object' && !('additionalProperties' in members);
  return isObject ? { ...members, additionalProperties: false } : members;
}

interface CompiledDocument {
  readonly document: Document;
  readonly ajv: Ajv2020;
  readonly routes: readonly { readonly path: string; readonly pattern: RegExp }[];
}

function compile(text: string): CompiledDocument {
  const document = closed(JSON.parse(text)) as Document;
  // Whether the document itself is right is what `npm run openapi:lint` says.
  // Schemas that are asked a few times each: making their code smaller takes longer than running it.
  const ajv = new Ajv2020({
    strict: false,
    allErrors: true,
    validateSchema: false,
    code: { optimize: false },
  });
  formats.default.default(ajv);
  ajv.addSchema(document, DOCUMENT_ID);
  const routes = Object.keys(document.paths).map((path) => ({
    path,
    pattern: new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`),
  }));
  return { document, ajv, routes };
}

// Compiled once for all files of a worker: it takes as long as a test.
const { document, ajv, routes } = compile(
  readFileSync(new URL('../../../openapi.json', import.meta.url), 'utf8'),
);

/** Tests of streams check the events themselves, and a list as CSV has no schema. */
export function hasSchema(contentType: unknown): boolean {
  return !/^text\/(?:event-stream|csv)/.test(String(contentType));
}

export class OpenApiValidator {
  /** The problems, one line each. */
  readonly problems: string[] = [];

  /** As the service's first middleware: looks at every answer as it leaves. */
  readonly watch = (request: IncomingMessage, response: ServerResponse, next: () => void): void => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const note = (chunk: unknown): void => {
      if (typeof chunk !== 'string' && !Buffer.isBuffer(chunk)) return;
      bytes += chunk.length;
      if (bytes <= MAX_VALIDATED_BYTES) chunks.push(Buffer.from(chunk));
    };
    const write = response.write.bind(response) as (...data: unknown[]) => boolean;
    const end = response.end.bind(response) as (...data: unknown[]) => ServerResponse;
    response.write = (chunk: unknown, ...rest: unknown[]) => {
      note(chunk);
      return write(chunk, ...rest);
    };
    response.end = (chunk?: unknown, ...rest: unknown[]) => {
      note(chunk);
      if (bytes <= MAX_VALIDATED_BYTES && hasSchema(response.getHeader('content-type')))
        this.check(request, response, Buffer.concat(chunks));
      return end(chunk, ...rest);
    };
    next();
  };

  /** Looks at one answer; one to an operation that the document does not have is not checked. */
  check(
    { method = '', url = '' }: Pick<IncomingMessage, 'method' | 'url'>,
    { statusCode }: Pick<ServerResponse, 'statusCode'>,
    body: Buffer,
  ): void {
    const [path = ''] = url.split('?');
    // A fixed path goes before one with a parameter in the same place.
    const route =
      routes.find((candidate) => candidate.path === path) ?? routes.find(({ pattern }) => pattern.test(path));
    const operation = route && document.paths[route.path]?.[method.toLowerCase()];
    if (!route || !operation) return;
    const where = `${method} ${route.path} ${statusCode}`;
    const answer = operation.responses[statusCode];
    if (!answer) this.problems.push(`${where}: is not declared`);
    else if (answer.content) this.validateBody(where, route.path, method, statusCode, body);
  }

  private validateBody(where: string, path: string, method: string, status: number, body: Buffer): void {
    const pointer = [
      'paths',
      path,
      method.toLowerCase(),
      'responses',
      String(status),
      'content',
      'application/json',
      'schema',
    ];
    const reference = pointer.map((part) =>
      encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1')),
    );
    const validate = ajv.getSchema(`${DOCUMENT_ID}#/${reference.join('/')}`) as ValidateFunction | undefined;
    if (!validate) {
      this.problems.push(`${where}: has no schema`);
      return;
    }
    let value: unknown;
    try {
      value = JSON.parse(body.toString('utf8'));
    } catch {
      this.problems.push(`${where}: is not JSON`);
      return;
    }
    if (!validate(value)) this.problems.push(`${where}: ${ajv.errorsText(validate.errors)}`);
  }
}
