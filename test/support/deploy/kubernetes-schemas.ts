// Checks Kubernetes objects by the published types of its API: the package kubernetes-types, which is made from the OpenAPI
// document of Kubernetes. An object has no other fields, all that are required, and every type right.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { Ajv } from 'ajv';
import type { ValidateFunction } from 'ajv';
import ts from 'typescript';

type Schema = Readonly<Record<string, unknown>>;

const require = createRequire(import.meta.url);
const FOLDER = dirname(require.resolve('kubernetes-types/package.json'));
const ROOT = 'kubernetes';

/** The module of an API version: `networking.k8s.io/v1` is in networking/v1. */
function moduleOf(apiVersion: string): string {
  const [group = '', version] = apiVersion.split('/');
  return version === undefined ? `core/${group}` : `${group.replace(/\..*/, '')}/${version}`;
}

/** The types of a module and of those that it imports, as JSON schemas. */
class TypesAsSchemas {
  readonly definitions: Record<string, Schema> = {};
  private readonly modules = new Set<string>();

  add(module: string): void {
    if (this.modules.has(module)) return;
    this.modules.add(module);
    const path = join(FOLDER, `${module}.d.ts`);
    const source = ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.Latest);
    const imported = new Map<string, string>();
    for (const statement of source.statements) {
      if (!ts.isImportDeclaration(statement)) continue;
      const from = join(dirname(module), (statement.moduleSpecifier as ts.StringLiteral).text);
      const names = statement.importClause?.namedBindings as ts.NamedImports;
      for (const { name } of names.elements) imported.set(name.text, from);
      this.add(from);
    }
    const referTo = (name: string): Schema => ({
      $ref: `${ROOT}#/$defs/${(imported.get(name) ?? module).replaceAll('/', '.')}.${name}`,
    });
    for (const statement of source.statements) {
      const key = (name: ts.Identifier): string => `${module.replaceAll('/', '.')}.${name.text}`;
      if (ts.isInterfaceDeclaration(statement))
        this.definitions[key(statement.name)] = schemaOfMembers(statement.members, referTo);
      else if (ts.isTypeAliasDeclaration(statement))
        this.definitions[key(statement.name)] = schemaOf(statement.type, referTo);
    }
  }
}

type ReferTo = (name: string) => Schema;

function schemaOfMembers(members: ts.NodeArray<ts.TypeElement>, referTo: ReferTo): Schema {
  // Without members: any object, such as the content of another resource.
  if (members.length === 0) return { type: 'object' };
  const properties: Record<string, Schema> = {};
  const required: string[] = [];
  for (const member of members) {
    if (ts.isIndexSignatureDeclaration(member))
      return { type: 'object', additionalProperties: schemaOf(member.type, referTo) };
    if (!ts.isPropertySignature(member) || member.type === undefined)
      throw new Error('a type has a member of an unknown form');
    const { text } = member.name as ts.Identifier | ts.StringLiteral;
    properties[text] = schemaOf(member.type, referTo);
    if (member.questionToken === undefined) required.push(text);
  }
  return { type: 'object', properties, required, additionalProperties: false };
}

function schemaOf(type: ts.TypeNode, referTo: ReferTo): Schema {
  if (ts.isUnionTypeNode(type)) return { anyOf: type.types.map((one) => schemaOf(one, referTo)) };
  if (ts.isArrayTypeNode(type)) return { type: 'array', items: schemaOf(type.elementType, referTo) };
  if (ts.isTypeLiteralNode(type)) return schemaOfMembers(type.members, referTo);
  if (ts.isLiteralTypeNode(type)) return { const: (type.literal as ts.StringLiteral).text };
  if (ts.isTypeReferenceNode(type)) {
    const { text } = type.typeName as ts.Identifier;
    const [items] = type.typeArguments ?? [];
    return text === 'Array' && items ? { type: 'array', items: schemaOf(items, referTo) } : referTo(text);
  }
  switch (type.kind) {
    case ts.SyntaxKind.StringKeyword:
      return { type: 'string' };
    // The API has other numbers only in schemas of custom resources.
    case ts.SyntaxKind.NumberKeyword:
      return { type: 'integer' };
    case ts.SyntaxKind.BooleanKeyword:
      return { type: 'boolean' };
    default:
      throw new Error(`a type of an unknown form: ${ts.SyntaxKind[type.kind]}`);
  }
}

export interface Identified {
  readonly apiVersion: string;
  readonly kind: string;
}

export class KubernetesSchemas {
  private readonly validators = new Map<string, ValidateFunction>();

  /** The problems of an object; none: it is valid. */
  problemsOf(object: Identified): string[] {
    const module = moduleOf(object.apiVersion);
    const validate = this.validatorOf(module, object.kind);
    if (validate(object)) return [];
    return (validate.errors ?? []).map(
      ({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`,
    );
  }

  private validatorOf(module: string, kind: string): ValidateFunction {
    const name = `${module.replaceAll('/', '.')}.${kind}`;
    const known = this.validators.get(name);
    if (known) return known;
    const types = new TypesAsSchemas();
    types.add(module);
    if (!types.definitions[name]) throw new Error(`${name} is no type of Kubernetes`);
    const ajv = new Ajv({ strict: true, strictRequired: false, allowUnionTypes: true, allErrors: true });
    ajv.addSchema({ $id: ROOT, $defs: types.definitions });
    const validate = ajv.compile({ $ref: `${ROOT}#/$defs/${name}` });
    this.validators.set(name, validate);
    return validate;
  }
}
