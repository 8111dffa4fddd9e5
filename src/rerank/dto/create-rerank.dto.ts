// The body of POST /rerank. Unknown members go upstream. Contract: docs/contract.md#rerank.
import { Allow } from 'class-validator';
import type { CallerTrace } from '../../domain/caller-trace.js';
import { AppError } from '../../domain/errors.js';
import { isObject } from '../../domain/members.js';
import type { RerankDocuments, RerankRequest } from '../../domain/rerank/rerank.js';
import { NOT_WELL_FORMED } from '../../domain/text/storable-text.js';
import {
  MODEL_NAME,
  rejectInvalidCall,
  SessionIdField,
  TraceField,
  withoutNull,
} from '../../http/dto/call-fields.js';
import { ProviderPreferencesDto } from '../../http/dto/provider-preferences.dto.js';
import { CustomField, ObjectField } from '../../http/fields/compound-fields.js';
import { rejectHostileShape, rejectTooManyMembers } from '../../http/fields/json-shape.js';
import { FormattedField, IntegerField, TextField } from '../../http/fields/scalar-fields.js';

export const MAX_DOCUMENTS = 1_000;
const MAX_USER_LENGTH = 1_000;
const MAX_TOP_N = 1_000_000_000;
const EXTRA = { elements: 1_000, values: 2_000, allowsAnyName: true, isWellFormed: true };
const IMAGE = /^(?:data:image\/|https?:\/\/)/;

const DOCUMENTS_SCHEMA = {
  type: 'array',
  minItems: 1,
  maxItems: MAX_DOCUMENTS,
  items: {
    oneOf: [
      { type: 'string', minLength: 1 },
      {
        type: 'object',
        properties: {
          text: { type: 'string' },
          image: { type: 'string', description: 'A data URL or an https address.' },
        },
      },
    ],
  },
};

/** As the caller wrote it. */
export type RerankDocumentDto = string | { readonly text?: string; readonly image?: string };

export class CreateRerankDto {
  @FormattedField({
    pattern: MODEL_NAME,
    message: 'must have the form vendor/model',
    example: 'cohere/rerank-v3.5',
    description: 'An id of the form vendor/model, or the name behind the slash where one model has it.',
  })
  model: string;

  @CustomField(
    { type: 'string', minLength: 1 },
    { rules: [Allow()], example: 'capital of the United States' },
  )
  query: string;

  @CustomField(DOCUMENTS_SCHEMA, {
    rules: [Allow()],
    example: [
      'Carson City is the capital of Nevada.',
      'Washington, D.C. is the capital of the United States.',
    ],
  })
  documents: RerankDocumentDto[];

  @IntegerField({
    optional: true,
    minimum: 1,
    hiddenMaximum: MAX_TOP_N,
    description: 'Number of results, the best first. Default: all.',
  })
  top_n?: number;

  @ObjectField(ProviderPreferencesDto, { optional: true, nullable: true })
  provider?: ProviderPreferencesDto;

  @TextField({ optional: true, hiddenMaxLength: MAX_USER_LENGTH, description: 'Identifier of the end user.' })
  user?: string;

  @SessionIdField()
  session_id?: string;

  @TraceField()
  trace?: CallerTrace;

  /** The unknown members of the body. */
  @Allow()
  extra: Readonly<Record<string, unknown>> = {};
}

/** Throws `invalid_request` that names the member at fault. */
export function readCreateRerank(body: Readonly<Record<string, unknown>>): CreateRerankDto {
  rejectTooManyMembers(body);
  // Documents are always returned: servers need not send them back.
  const { model, query, documents, top_n, provider, user, session_id, trace, ...rest } = withoutNull(body);
  const { return_documents: _returnDocuments, models, ...extra } = rest;
  if (models !== undefined)
    reject('models', 'is not supported: scores of two models cannot be compared; use model');
  const dto = new CreateRerankDto();
  Object.assign(dto, { model, top_n, provider, user, session_id, trace, extra });
  rejectHostileShape(extra, [], EXTRA);
  rejectInvalidCall(dto, MAX_USER_LENGTH);
  dto.query = readText(query, 'query');
  dto.documents = readDocuments(documents);
  return dto;
}

export function toRerankRequest({
  model,
  query,
  documents,
  top_n,
  user,
  extra,
}: CreateRerankDto): RerankRequest {
  return { model, query, documents: toDocuments(documents), topN: top_n, user, extra };
}

function reject(member: string, detail: string): never {
  throw new AppError('invalid_request', { member, detail });
}

function readText(value: unknown, member: string): string {
  if (typeof value !== 'string') return reject(member, 'must be a text');
  if (value === '') reject(member, 'must not be empty');
  if (!value.isWellFormed()) reject(member, NOT_WELL_FORMED);
  return value;
}

function readDocuments(value: unknown): RerankDocumentDto[] {
  if (!Array.isArray(value))
    return reject('documents', 'must be a list of texts or of objects with text or image');
  if (value.length === 0) reject('documents', 'must not be empty');
  if (value.length > MAX_DOCUMENTS) reject('documents', `must have at most ${MAX_DOCUMENTS} documents`);
  return value.map((item: unknown, index) => readDocument(item, `documents[${index}]`));
}

function readDocument(item: unknown, member: string): RerankDocumentDto {
  if (!isObject(item)) return readText(item, member);
  const { text, image, ...others } = item;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) reject(member, 'has a member other than text and image');
  if ((text ?? null) === null && (image ?? null) === null) reject(member, 'must have text or image');
  const found: { text?: string; image?: string } = {};
  if ((text ?? null) !== null) found.text = readText(text, `${member}.text`);
  if ((image ?? null) !== null) {
    found.image = readText(image, `${member}.image`);
    if (!IMAGE.test(found.image))
      reject(`${member}.image`, 'must be a data URL of an image, or an http(s) address');
  }
  return found;
}

function toDocuments(documents: readonly RerankDocumentDto[]): RerankDocuments {
  if (documents.some((document) => typeof document !== 'string' && document.image !== undefined))
    return { form: 'multimodal', items: documents.map((document) => ({ content: partsOf(document) })) };
  return {
    form: 'texts',
    items: documents.map((document) => (typeof document === 'string' ? document : (document.text ?? ''))),
  };
}

function partsOf(document: RerankDocumentDto): Readonly<Record<string, unknown>>[] {
  const { text, image } = typeof document === 'string' ? { text: document, image: undefined } : document;
  return [
    ...(text === undefined ? [] : [{ type: 'text', text }]),
    ...(image === undefined ? [] : [{ type: 'image_url', image_url: { url: image } }]),
  ];
}
