// A Postman collection (format 2.1) of an OpenAPI document: a folder for each tag, a request for each operation.

const SCHEMA = 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json';
const METHODS = ['get', 'post', 'put', 'patch', 'delete'];
// Operations of these ids are for inference keys.
const INFERENCE = new Set([
  'createEmbeddings',
  'createChatCompletions',
  'getCurrentKey',
  'getCurrentKeyByFormerPath',
]);

/** Examples are texts, numbers or flags. */
const toVariable = (key, value, description) => ({
  key,
  value: value === undefined ? '' : `${value}`,
  ...(description === undefined ? {} : { description }),
});

const FORM = 'application/x-www-form-urlencoded';

/** The body by an example; of several the first. Undefined: the operation takes none. */
function toBody(operation) {
  const content = operation.requestBody?.content ?? {};
  const { example, examples } = content['application/json'] ?? content[FORM] ?? {};
  const shown = example ?? Object.values(examples ?? {})[0]?.value;
  if (shown === undefined) return undefined;
  if (FORM in content)
    return {
      mode: 'urlencoded',
      urlencoded: Object.entries(shown).map(([key, value]) => toVariable(key, value)),
    };
  return { mode: 'raw', raw: JSON.stringify(shown, null, 2), options: { raw: { language: 'json' } } };
}

const fromParameter = ({ name, description, example, schema }) =>
  toVariable(name, example ?? schema?.example, description);

function toUrl(path, parameters) {
  const segments = path.split('/').filter(Boolean);
  const inQuery = parameters.filter((parameter) => parameter.in === 'query');
  const inPath = parameters.filter((parameter) => parameter.in === 'path');
  return {
    raw: `{{baseUrl}}${path.replaceAll(/\{(\w+)\}/g, ':$1')}`,
    host: ['{{baseUrl}}'],
    path: segments.map((segment) => segment.replace(/^\{(\w+)\}$/, ':$1')),
    // Each is optional: the user switches it on.
    query: inQuery.map((parameter) => Object.assign(fromParameter(parameter), { disabled: true })),
    variable: inPath.map(fromParameter),
  };
}

function toAuth({ operationId, security = [] }) {
  if (security.length === 0) return { type: 'noauth' };
  const key = INFERENCE.has(operationId) ? '{{apiKey}}' : '{{managementKey}}';
  return { type: 'bearer', bearer: [{ key: 'token', value: key, type: 'string' }] };
}

function toRequest(method, path, operation) {
  const body = toBody(operation);
  return {
    name: operation.summary,
    request: {
      method: method.toUpperCase(),
      description: operation.description,
      url: toUrl(path, operation.parameters ?? []),
      auth: toAuth(operation),
      header: [],
      ...(body === undefined ? {} : { body }),
    },
  };
}

/** The document has no `$ref` to a parameter. */
export function toPostmanCollection(document) {
  const folders = new Map();
  for (const [path, item] of Object.entries(document.paths)) {
    for (const method of METHODS.filter((candidate) => item[candidate])) {
      const operation = item[method];
      const [tag] = operation.tags;
      folders.set(tag, [...(folders.get(tag) ?? []), toRequest(method, path, operation)]);
    }
  }
  return {
    info: { name: document.info.title, description: document.info.description, schema: SCHEMA },
    variable: [
      toVariable('baseUrl', 'http://127.0.0.1:3000'),
      toVariable('managementKey'),
      toVariable('apiKey'),
    ],
    item: [...folders].map(([name, item]) => ({ name, item })),
  };
}
