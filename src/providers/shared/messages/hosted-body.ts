// The body of the Messages wire at a cloud: its address names the model and the form of the answer, the body names the version, and
// members of betas pass only where the catalogue lists them (docs/contract.md#messages-providers).
import type { ChatEndpoint } from '../../../domain/chat/chat-model.js';
import type { NativeRequest } from '../../../domain/chat/chat-request.js';
import { JsonDocument } from '../../../json/json-document.js';
import type { JsonNode } from '../../../json/json-node.js';
import { JsonShape } from '../../../json/json-shape.js';
import { BodyAssembly } from '../body-assembly.js';

/** A reader of documents that this service has checked before. */
class UncheckedDocument extends Error {}

type Listing = Pick<ChatEndpoint, 'betas' | 'reasoningEfforts' | 'supportedParameters'>;

/** Members that a cloud takes with a beta only: the beginnings of its names. */
const BETAS: Readonly<Record<string, readonly string[]>> = {
  context_management: ['context-management-'],
  diagnostics: ['cache-diagnosis-'],
  speed: ['fast-mode-'],
  'output_config.task_budget': ['task-budgets-'],
  'tools.defer_loading': ['advanced-tool-use-', 'tool-search-tool-'],
  'tools.eager_input_streaming': ['fine-grained-tool-streaming-'],
  'tools.input_examples': ['advanced-tool-use-', 'tool-examples-'],
};
/** Members that other facts of the endpoint allow. */
const LISTED: Readonly<Record<string, (endpoint: Listing) => boolean>> = {
  'output_config.effort': ({ reasoningEfforts }) => reasoningEfforts.length > 0,
  'output_config.format': ({ supportedParameters }) => supportedParameters.includes('structured_outputs'),
  'tools.strict': ({ supportedParameters }) => supportedParameters.includes('structured_outputs'),
};
const NESTED: Readonly<Record<string, JsonShape>> = {
  tools: new JsonShape(namesIn('tools')),
  output_config: new JsonShape(namesIn('output_config')),
};
const BETA_HEADER = 'anthropic-beta';

/** The parts that a cloud has in other places than the wire. */
export interface HostedForm {
  /** In the body, and in no header. */
  readonly version: string;
  /** Members that the address stands for. */
  readonly inAddress: readonly string[];
  readonly betasIn: 'body' | 'header';
}

export class HostedBody extends BodyAssembly {
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    private readonly endpoint: ChatEndpoint,
    private readonly form: HostedForm,
    native: NativeRequest | null,
  ) {
    super();
    super.add('anthropic_version', JSON.stringify(form.version));
    const betas = (native?.headers[BETA_HEADER] ?? '').split(',').filter((beta) => beta !== '');
    const kept = betas.filter((beta) => this.endpoint.betas?.includes(beta) === true);
    const isHeader = form.betasIn === 'header' && kept.length > 0;
    this.headers = isHeader ? { [BETA_HEADER]: kept.join(',') } : {};
    if (kept.length > 0 && !isHeader) super.add('anthropic_beta', JSON.stringify(kept));
    if (kept.length < betas.length) this.edits.add(BETA_HEADER);
  }

  override add(name: string, value: Buffer | string): void {
    if (this.form.inAddress.includes(name)) return;
    if (!takes(name, this.endpoint)) {
      this.edits.add(name);
      return;
    }
    const shape = Object.hasOwn(NESTED, name) ? NESTED[name] : undefined;
    super.add(name, shape === undefined ? value : this.filtered(name, Buffer.from(value), shape));
  }

  /** Values that stay are the client's own bytes. */
  private filtered(name: string, value: Buffer, shape: JsonShape): Buffer {
    const top = new JsonDocument(UncheckedDocument).read(value, 0, value.length, shape);
    if (top === null) return value;
    const objects = top.isList
      ? Array.from({ length: top.count }, (_none, at) => top.child(at)).filter((child) => child !== null)
      : [top];
    const isChanged = objects.map((object) => this.removeFrom(object, name)).includes(true);
    return isChanged ? Buffer.concat(top.pieces()) : value;
  }

  private removeFrom(object: JsonNode, name: string): boolean {
    let isChanged = false;
    for (let at = 0; at < object.count; at++) {
      const path = `${name}.${object.nameAt(at) ?? ''}`;
      if (takes(path, this.endpoint)) continue;
      object.removeAt(at);
      this.edits.add(path);
      isChanged = true;
    }
    return isChanged;
  }
}

function takes(path: string, endpoint: ChatEndpoint): boolean {
  if (Object.hasOwn(LISTED, path)) return LISTED[path]?.(endpoint) === true;
  const prefixes = Object.hasOwn(BETAS, path) ? BETAS[path] : undefined;
  return prefixes === undefined || isListed(prefixes, endpoint);
}

function isListed(prefixes: readonly string[], { betas = [] }: Listing): boolean {
  return betas.some((beta) => prefixes.some((prefix) => beta.startsWith(prefix)));
}

function namesIn(member: string): string[] {
  return [...Object.keys(BETAS), ...Object.keys(LISTED)].flatMap((path) =>
    path.startsWith(`${member}.`) ? [path.slice(member.length + 1)] : [],
  );
}
