// Shared by the receivers of the OTLP kinds: the order of checks of such servers, and their answers.
import type { IncomingHttpHeaders } from 'node:http';
import type { DestinationConfig } from '../../../src/domain/destinations/destination.js';
import { contentProblem } from './gen-ai-content.js';
import { OtlpProblem, validateTraceRequest } from './otlp-validator.js';
import type { Attributes, ValidatedSpan } from './otlp-validator.js';
import type { DestinationReceiver, ReceivedDelivery, ReceiverReply, ReceiverResult } from './receiver.js';

export interface OtlpPlatformRules {
  readonly type: string;
  readonly config: DestinationConfig;
  readonly origin: string;
  /** The member of the config that holds the address; absent: it has none. */
  readonly addressField?: string;
  readonly path: string;
  readonly method?: string;
  readonly isAuthorized: (headers: IncomingHttpHeaders) => boolean;
  readonly maxBytes: number;
  /** The platform's complaint beyond the specification; null: none. */
  readonly problemOf?: (span: ValidatedSpan, headers: IncomingHttpHeaders) => string | null;
  /** Where the platform shows the generation's id. */
  readonly generationOf?: (attributes: Attributes) => unknown;
  /** The answer to a request that was taken. */
  readonly success?: ReceiverReply;
  readonly partial?: ReceiverReply | null;
  readonly unauthorized?: ReceiverReply;
}

const problem = (status: number, message: string): ReceiverResult => ({
  reply: { status, body: { code: status, message } },
  stored: [],
});

export function otlpReceiver(rules: OtlpPlatformRules): DestinationReceiver {
  const {
    type,
    config,
    origin,
    addressField,
    success = { status: 200, body: { partialSuccess: {} } },
  } = rules;
  const unauthorized = rules.unauthorized ?? { status: 401, body: { code: 16, message: 'Unauthenticated' } };

  const check = ({ method, path, headers, bytes }: ReceivedDelivery): ReceiverResult => {
    if (path !== rules.path) return problem(404, 'no such path');
    if (method !== (rules.method ?? 'POST')) return problem(405, 'no such method');
    if (!rules.isAuthorized(headers)) return { reply: unauthorized, stored: [] };
    if (headers['content-type'] !== 'application/json') return problem(415, 'unsupported content type');
    if (bytes.length > rules.maxBytes) return problem(413, 'request body too large');
    try {
      const spans = validateTraceRequest(bytes);
      for (const span of spans) {
        const reason = rules.problemOf?.(span, headers) ?? spanProblem(span);
        if (reason !== null) return problem(400, reason);
      }
      return { reply: success, stored: spans.map(({ attributes }) => generationIdOf(rules, attributes)) };
    } catch (error) {
      if (error instanceof OtlpProblem) return problem(400, error.message);
      throw error;
    }
  };

  return {
    type,
    config,
    expectedOrigin: origin,
    configFor: (address) => {
      if (addressField === undefined) return null;
      const given = config[addressField] as string;
      return { ...config, [addressField]: given.replace(origin, address) };
    },
    check,
    failures: {
      unauthorized,
      rateLimited: {
        status: 429,
        headers: { 'retry-after': '30' },
        body: { code: 8, message: 'rate limit exceeded' },
      },
      unavailable: { status: 503, body: { code: 14, message: 'the service is unavailable' } },
    },
    partial:
      rules.partial === undefined
        ? { status: 200, body: { partialSuccess: { rejectedSpans: '1', errorMessage: 'a span is too old' } } }
        : rules.partial,
  };
}

/** The attributes of every span of this service. */
function spanProblem({ attributes, events, resource, status }: ValidatedSpan): string | null {
  if (resource.get('service.name') !== 'openrouter') return 'a resource without its service';
  const reason = contentProblem(attributes);
  if (reason !== null) return reason;
  const isFailure = attributes.has('error.type') || events.some(({ name }) => name === 'exception');
  return isFailure === (status.code === 2) ? null : 'a status that does not fit';
}

/** The UUID of the generation whose id the platform shows as `gen-<32 hex>`. */
function generationIdOf({ generationOf }: OtlpPlatformRules, attributes: Attributes): string {
  const shown = String(generationOf ? generationOf(attributes) : attributes.get('gen_ai.response.id'));
  const [, ...groups] =
    /^gen-([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})$/.exec(shown) ?? [];
  if (groups.length === 0) throw new OtlpProblem(`the generation id ${shown}`);
  return groups.join('-');
}
