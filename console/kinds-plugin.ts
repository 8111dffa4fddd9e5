// The kinds of destinations with their fields, as openapi.json describes them: `virtual:destination-kinds`.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Plugin } from 'vite';
import type { DestinationKind, KindField } from './src/api/destination-kinds';

const NAME = 'virtual:destination-kinds';
const RESOLVED = `\0${NAME}`;
const DOCUMENT = fileURLToPath(new URL('../openapi.json', import.meta.url));

interface Schema {
  readonly title?: string;
  readonly type?: string;
  readonly format?: string;
  readonly description?: string;
  readonly default?: string;
  readonly enum?: readonly string[];
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly anyOf?: readonly { readonly $ref: string }[];
}

interface Document {
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

/** The spellings of `type` and the schemas of `config` are in the order of the kinds. */
function readKinds({ components: { schemas } }: Document): DestinationKind[] {
  const { type, config } = schemas['CreateDestinationDto']?.properties ?? {};
  const spellings = type?.enum ?? [];
  const types = spellings.filter((spelling) => !isNeutral(spelling));
  return types.map((spelling, index) => {
    const next = spellings[spellings.indexOf(spelling) + 1];
    const schema = schemas[config?.anyOf?.[index]?.$ref.split('/').at(-1) ?? ''];
    if (schema?.title === undefined) throw new Error(`openapi.json has no schema of ${spelling}`);
    return {
      type: spelling,
      neutralType: next !== undefined && isNeutral(next) ? next : null,
      name: schema.title,
      fields: readFields(schema),
    };
  });
}

const isNeutral = (spelling: string): boolean => spelling.startsWith('kind_');

/** Without the headers, which every kind has. */
function readFields({ properties = {}, required = [] }: Schema): KindField[] {
  return Object.entries(properties)
    .filter(([, { type }]) => type === 'string')
    .map(([name, field]) => ({
      name,
      description: field.description ?? '',
      isRequired: required.includes(name),
      isSecret: field.format === 'password',
      default: field.default ?? null,
      choices: field.enum ?? null,
    }));
}

export const destinationKinds: Plugin = {
  name: 'destination-kinds',
  resolveId: (id) => (id === NAME ? RESOLVED : undefined),
  load(id) {
    if (id !== RESOLVED) return undefined;
    this.addWatchFile(DOCUMENT);
    const kinds = readKinds(JSON.parse(readFileSync(DOCUMENT, 'utf8')) as Document);
    return `export default ${JSON.stringify(kinds)};`;
  },
};
