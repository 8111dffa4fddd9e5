// An error in each provider's own form, for suites that call every provider alike.
import type { StubReply } from './provider-stub.js';

export interface StubError {
  readonly message: string;
  readonly code?: string;
  /** The status that the body states; the upstream's own where the body has none. */
  readonly stated?: number;
}

type ErrorForm = (status: number, error: StubError) => StubReply;

const openAiForm: ErrorForm = (status, { message, code, stated }) => ({
  status,
  body: { error: { message, type: null, param: null, code: code ?? stated ?? null } },
});
const detailForm: ErrorForm = (status, { message, code, stated }) => ({
  status,
  body: { detail: message, ...(code === undefined ? {} : { code }), ...(stated ? { status: stated } : {}) },
});

const FORMS: Readonly<Record<string, ErrorForm>> = {
  voyage: detailForm,
  jina: detailForm,
  nomic: detailForm,
  cohere: (status, { message, code, stated }) => ({
    status,
    body: { message, ...(code === undefined ? {} : { code }), ...(stated ? { status_code: stated } : {}) },
  }),
  mistral: (status, { message, code, stated }) => ({
    status,
    body: { object: 'error', message, type: null, param: null, code: code ?? stated ?? null },
  }),
  vllm: (status, { message, code, stated }) => ({
    status,
    body: { object: 'error', message, type: code ?? null, param: null, code: stated ?? status },
  }),
  google: (status, { message, code, stated }) => ({
    status,
    body: { error: { code: stated ?? status, message, status: code ?? 'UNKNOWN' } },
  }),
  bedrock: (status, { message, code, stated }) => ({
    status,
    body: { message, ...(stated ? { statusCode: stated } : {}) },
    ...(code === undefined ? {} : { headers: { 'x-amzn-errortype': `${code}:http://internal.amazon.com/` } }),
  }),
  ollama: (status, { message, code, stated }) => ({
    status,
    body: { error: message, ...(code === undefined ? {} : { code }), ...(stated ? { status: stated } : {}) },
  }),
  tei: (status, { message, code, stated }) => ({
    status,
    body: {
      error: message,
      ...(code === undefined ? {} : { error_type: code }),
      ...(stated ? { code: stated } : {}),
    },
  }),
};

export function errorOf(slug: string, status: number, error: StubError): StubReply {
  return (FORMS[slug] ?? openAiForm)(status, error);
}
