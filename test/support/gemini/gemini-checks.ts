// The rules by which Google's generateContent refuses a body. Sources: its reference, its guides to function calling, thinking and
// thought signatures, the types of @google/genai 2.32, and errors as users quote them.
import { isObject } from '../../../src/domain/members.js';

type Members = Readonly<Record<string, unknown>>;

export const PLACEHOLDER = 'skip_thought_signature_validator';
const TOP = new Set('contents systemInstruction tools toolConfig generationConfig'.split(' '));
const CONFIG = new Set(
  (
    'temperature topP topK seed stopSequences maxOutputTokens candidateCount thinkingConfig responseMimeType ' +
    'responseJsonSchema frequencyPenalty presencePenalty'
  ).split(' '),
);
const DATA = ['text', 'inlineData', 'fileData', 'functionCall', 'functionResponse'];
const PART = new Set([...DATA, 'thought', 'thoughtSignature']);
const DECLARATION = new Set(['name', 'description', 'parametersJsonSchema']);
const LEVELS: ReadonlySet<unknown> = new Set(['MINIMAL', 'LOW', 'MEDIUM', 'HIGH']);
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

/** The message of a 400; null: the body is taken. */
export function problemOf(body: Members, model: string): string | null {
  return (
    unknownMember(body, TOP) ??
    systemProblem(body) ??
    contentsProblem(list(body['contents']), model) ??
    toolsProblem(list(body['tools'])) ??
    configProblem(object(body['generationConfig']), model) ??
    choiceProblem(body)
  );
}

function systemProblem({ systemInstruction }: Members): string | null {
  if (systemInstruction === undefined) return null;
  const parts = list(object(systemInstruction)['parts']);
  return parts.length > 0 && parts.every((part) => typeof part['text'] === 'string')
    ? null
    : 'systemInstruction must have texts';
}

function contentsProblem(contents: readonly Members[], model: string): string | null {
  if (contents.length === 0) return 'contents is not specified';
  for (const [index, { role, parts, ...more }] of contents.entries()) {
    const at = `contents[${index}]`;
    if (Object.keys(more).length > 0) return `Unknown name "${Object.keys(more)[0]}" at '${at}'`;
    if (role !== (index % 2 === 0 ? 'user' : 'model')) return `${at}: roles must alternate, the user first`;
    if (list(parts).length === 0) return `${at}.parts must not be empty`;
    for (const part of list(parts)) {
      const problem = partProblem(part);
      if (problem !== null) return `${at}: ${problem}`;
    }
    const problem = callsProblem(list(parts), list(contents[index + 1]?.['parts']), model);
    if (problem !== null) return `${at}: ${problem}`;
  }
  return contents.length % 2 === 1 ? null : 'the last turn must be of the user';
}

function partProblem(part: Members): string | null {
  const unknown = unknownMember(part, PART);
  if (unknown !== null) return unknown;
  const data = DATA.filter((name) => part[name] !== undefined);
  if (data.length !== 1) return `a part must have exactly one of ${DATA.join(', ')}`;
  const { text, thoughtSignature, functionCall, functionResponse, inlineData } = part;
  if (text === '' && thoughtSignature === undefined) return 'a text must not be empty';
  if (thoughtSignature !== undefined && !isSignature(thoughtSignature))
    return 'Thought signature is not valid';
  if (functionCall !== undefined && !isObject(object(functionCall)['args'])) return 'args must be an object';
  if (functionResponse !== undefined && !isObject(object(functionResponse)['response']))
    return 'Invalid value at function_response.response';
  const { mimeType, data: bytes } = object(inlineData);
  if (inlineData !== undefined && !(typeof mimeType === 'string' && BASE64.test(String(bytes))))
    return 'inlineData must have a type and base64';
  return null;
}

/** Every call is answered in the next turn, in its place; the first call of a step is signed from Gemini 3 on. */
function callsProblem(parts: readonly Members[], answers: readonly Members[], model: string): string | null {
  const calls = parts.filter((part) => part['functionCall'] !== undefined);
  for (const [index, { functionCall, thoughtSignature }] of calls.entries()) {
    const { id, name } = object(functionCall);
    const answer = object(answers[index]?.['functionResponse']);
    if (answer['id'] !== id || answer['name'] !== name)
      return 'the number of function response parts must equal that of the function call parts';
    if (index === 0 && thoughtSignature === undefined && /gemini-[3-9]/.test(model))
      return 'Function call is missing a thought_signature in functionCall parts.';
    if (index > 0 && thoughtSignature === PLACEHOLDER) return 'only the first call has a signature';
  }
  return null;
}

function isSignature(signature: unknown): boolean {
  return signature === PLACEHOLDER || (typeof signature === 'string' && BASE64.test(signature));
}

function toolsProblem(tools: readonly Members[]): string | null {
  for (const { functionDeclarations, ...more } of tools) {
    if (Object.keys(more).length > 0) return `Unknown name "${Object.keys(more)[0]}" at 'tools'`;
    for (const declaration of list(functionDeclarations)) {
      const unknown = unknownMember(declaration, DECLARATION);
      if (unknown !== null) return unknown;
      const { name, parametersJsonSchema: schema } = declaration;
      if (!/^[a-zA-Z_][\w.:-]{0,127}$/.test(String(name))) return 'Invalid function name';
      if (object(schema)['type'] !== 'object') return 'parametersJsonSchema must describe an object';
      if (object(schema)['$schema'] !== undefined) return 'Unknown name "$schema"';
    }
  }
  return null;
}

function configProblem(config: Members, model: string): string | null {
  const unknown = unknownMember(config, CONFIG);
  if (unknown !== null) return unknown;
  const { thinkingLevel, thinkingBudget } = object(config['thinkingConfig']);
  if (thinkingLevel !== undefined && thinkingBudget !== undefined)
    return 'You can only set only one of thinking budget and thinking level.';
  if (thinkingLevel !== undefined && (!LEVELS.has(thinkingLevel) || !/gemini-[3-9]/.test(model)))
    return 'Thinking level is not supported for this model.';
  if (list(config['stopSequences']).length > 5) return 'stopSequences must have at most 5 elements';
  return null;
}

function choiceProblem({ tools, toolConfig }: Members): string | null {
  const { mode, allowedFunctionNames: allowed } = object(object(toolConfig)['functionCallingConfig']);
  if (toolConfig !== undefined && tools === undefined) return 'Function calling config is set without tools';
  if (allowed !== undefined && mode !== 'ANY') return 'allowed_function_names is only for ANY';
  return null;
}

function unknownMember(members: Members, known: ReadonlySet<string>): string | null {
  const name = Object.keys(members).find((each) => !known.has(each));
  return name === undefined
    ? null
    : `Invalid JSON payload received. Unknown name "${name}": Cannot find field.`;
}

function list(value: unknown): readonly Members[] {
  return Array.isArray(value) ? (value as Members[]) : [];
}

function object(value: unknown): Members {
  return isObject(value) ? value : {};
}
