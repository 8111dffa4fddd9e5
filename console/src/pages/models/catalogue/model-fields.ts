// The members of a model and of its endpoints that the form shows as fields, and the layer that they make.
import type {
  CatalogueKind,
  CatalogueModel,
  EndpointDocument,
  ModelDocument,
  PriceRow,
} from '../../../api/catalogue';
import type { FormValues } from '../../../components/form/form';
import { identityOf, isSame, operatorLayer, tagOf, withEndpoint, withoutEndpoint } from './documents';
import { FURTHER, readObject } from './price-fields';

export interface FieldOf {
  readonly name: string;
  readonly label: string;
  readonly type: 'text' | 'number' | 'date';
  readonly hint?: string;
}

const NATIVE: FieldOf = {
  name: 'native_dimensions',
  label: 'Width of the vectors',
  type: 'number',
  hint: 'It never changes: another width is another model.',
};

/** Without the id. The width of a model that exists has no field. */
export function headFields(kind: CatalogueKind, isNew: boolean): readonly FieldOf[] {
  return [
    { name: 'name', label: 'Name', type: 'text' },
    { name: 'created_at', label: 'Released', type: 'date' },
    { name: 'context_length', label: 'Context, tokens', type: 'number' },
    ...(kind === 'models' && isNew ? [NATIVE] : []),
    {
      name: 'expires_on',
      label: 'May be gone from',
      type: 'date',
      hint: 'Answers then carry Deprecation and Sunset.',
    },
    { name: 'successor', label: 'Successor', type: 'text', hint: 'Named to callers. No call moves there.' },
  ];
}

const UPSTREAM: FieldOf = {
  name: 'upstream_model',
  label: 'Name at the provider',
  type: 'text',
  hint: 'A fixed name, not one that moves.',
};
const LIMITS: Readonly<Record<CatalogueKind, readonly FieldOf[]>> = {
  chat_models: [{ name: 'max_output_tokens', label: 'Output tokens, at most', type: 'number' }],
  models: [
    { name: 'max_inputs_per_call', label: 'Inputs of a call, at most', type: 'number' },
    { name: 'max_tokens_per_input', label: 'Tokens of an input, at most', type: 'number' },
  ],
  rerank_models: [{ name: 'max_documents_per_call', label: 'Documents of a call, at most', type: 'number' }],
  moving_aliases: [],
  unlisted: [],
};

export const endpointFields = (kind: CatalogueKind): readonly FieldOf[] => [UPSTREAM, ...LIMITS[kind]];

/** An endpoint of the form. */
export interface EndpointDraft {
  /** Names its fields. */
  readonly key: number;
  /** Of one that the model has; null: a new one. */
  readonly tag: string | null;
  readonly begun: EndpointDocument;
  readonly prices: readonly PriceRow[];
}

export const fieldName = ({ key }: Pick<EndpointDraft, 'key'>, member: string): string => `e${key}.${member}`;

const OF_ENDPOINT = ['provider', 'tag', 'prices'];
const OF_MODEL = ['id', 'endpoints', 'description'];

const furtherMembers = (document: object, fields: readonly FieldOf[], others: readonly string[]) =>
  Object.fromEntries(
    Object.entries(document).filter(
      ([name]) => !others.includes(name) && !fields.some((field) => field.name === name),
    ),
  );

const jsonOf = (members: object): string =>
  Object.keys(members).length === 0 ? '' : JSON.stringify(members, null, 2);

export const furtherOfModel = (model: ModelDocument, kind: CatalogueKind): string =>
  jsonOf(furtherMembers(model, [...headFields(kind, false), NATIVE], OF_MODEL));

export const furtherOfEndpoint = (endpoint: EndpointDocument, kind: CatalogueKind): string =>
  jsonOf(furtherMembers(endpoint, endpointFields(kind), OF_ENDPOINT));

interface ReadForm {
  readonly values: FormValues;
  readonly kind: CatalogueKind;
  readonly isNew: boolean;
}

/** Undefined: the field is empty. */
function membersOf(values: FormValues, fields: readonly FieldOf[], prefix = ''): Record<string, unknown> {
  return Object.fromEntries(
    fields.map(({ name, type }) => {
      const field = `${prefix}${name}`;
      const value = type === 'number' ? values.numberOrNull(field) : values.textOrNull(field);
      return [name, value ?? undefined];
    }),
  );
}

const readModel = ({ values, kind, isNew }: ReadForm): Record<string, unknown> => ({
  ...readObject(values.text(FURTHER)),
  ...membersOf(values, headFields(kind, isNew)),
  description: values.textOrNull('description') ?? undefined,
});

const readEndpoint = (draft: EndpointDraft, { values, kind }: ReadForm): Record<string, unknown> => ({
  ...readObject(values.text(fieldName(draft, FURTHER))),
  ...membersOf(values, endpointFields(kind), fieldName(draft, '')),
});

export function tagOfDraft(draft: EndpointDraft, values: FormValues): string {
  if (draft.tag !== null) return draft.tag;
  return values.text(fieldName(draft, 'tag')) || values.text(fieldName(draft, 'provider'));
}

/** The members that the reader changed; undefined for one that is as in the layers below again. */
function changesOf(before: object, after: object): Record<string, unknown> {
  const former = new Map(Object.entries(before));
  const fresh = new Map(Object.entries(after));
  const names = [...new Set([...former.keys(), ...fresh.keys()])];
  return Object.fromEntries(
    names.filter((name) => !isSame(former.get(name), fresh.get(name))).map((name) => [name, fresh.get(name)]),
  );
}

function newEndpoint(draft: EndpointDraft, form: ReadForm): EndpointDocument {
  const provider = form.values.text(fieldName(draft, 'provider'));
  return {
    ...identityOf(provider, tagOfDraft(draft, form.values)),
    ...readEndpoint(draft, form),
    prices: draft.prices,
  };
}

/** A model that no layer has yet. */
export function newModel(drafts: readonly EndpointDraft[], form: ReadForm): ModelDocument {
  return defined({ ...readModel(form), endpoints: drafts.map((draft) => defined(newEndpoint(draft, form))) });
}

/** The layer of the operator with the changes of the form, whose fields began as `initial`. */
export function changedLayer(
  from: CatalogueModel,
  {
    drafts,
    removed,
    initial,
    ...form
  }: ReadForm & {
    readonly drafts: readonly EndpointDraft[];
    /** Tags. */
    readonly removed: readonly string[];
    readonly initial: FormValues;
  },
): ModelDocument {
  const before = { ...form, values: initial };
  let layer = defined({ ...operatorLayer(from), ...changesOf(readModel(before), readModel(form)) });
  for (const tag of removed) layer = withoutEndpoint(layer, tag);
  for (const draft of drafts) {
    if (draft.tag === null) {
      const { provider, ...members } = newEndpoint(draft, form);
      layer = withEndpoint(layer, { provider, tag: tagOfDraft(draft, form.values) }, members);
    } else {
      const changes = changesOf(readEndpoint(draft, before), readEndpoint(draft, form));
      layer = withEndpoint(layer, { provider: draft.begun.provider, tag: draft.tag }, changes);
    }
  }
  return layer;
}

const defined = <Members extends object>(members: Members): Members =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as Members;

/** A problem of the service with the field of the form that has it. `layer` is the one that was sent. */
export function problemInForm(
  problem: string,
  {
    layer,
    drafts,
    values,
    kind,
    isNew,
  }: ReadForm & {
    readonly layer: ModelDocument;
    readonly drafts: readonly EndpointDraft[];
  },
): string {
  const text = problem
    .replace(/^(endpoints\[\d+\]): (\w+) is missing/, '$1.$2: is missing')
    .replace(/^(\w+) is missing/, '$1: is missing');
  const [, index, member, rest = ''] = /^endpoints\[(\d+)\](?:\.(\w+))?(.*)$/s.exec(text) ?? [];
  if (index === undefined)
    return inModel(text, [...headFields(kind, isNew).map(({ name }) => name), 'id', 'description']);
  const endpoint = layer.endpoints?.[Number(index)];
  const tag = endpoint === undefined ? '' : tagOf(endpoint);
  const draft = drafts.find((one) => tagOfDraft(one, values) === tag);
  if (draft === undefined || member === 'prices') return `${tag} ${member ?? ''}${rest}`;
  const own = [
    ...endpointFields(kind).map(({ name }) => name),
    ...(draft.tag === null ? ['provider', 'tag'] : []),
  ];
  if (member === undefined) return `${fieldName(draft, 'upstream_model')}${rest}`;
  return own.includes(member)
    ? `${fieldName(draft, member)}${rest}`
    : `${fieldName(draft, FURTHER)}: ${member}${rest}`;
}

function inModel(text: string, fields: readonly string[]): string {
  const [, member = '', rest = ''] = /^(\w+)(.*)$/s.exec(text) ?? [];
  return fields.includes(member) || rest === '' || !/^[.:[]/.test(rest) ? text : `${FURTHER}: ${text}`;
}
