// Tools, and the choice of one, in Gemini's wire.
import type { ChatRequest, ChatTool, JsonObject, JsonValue } from '../../../domain/chat/chat-request.js';
import { isObject } from '../../../domain/members.js';
import { objectSchema } from '../kernel-parts.js';
import { inlinedSchema } from './inlined-schema.js';

/** `edits` receives what is lost. */
export function geminiTools(tools: readonly ChatTool[], edits: Set<string>): readonly JsonObject[] {
  const functionDeclarations = tools.map(({ name, body }): JsonObject => {
    const described = isObject(body['function']) ? body['function'] : {};
    const { description, parameters, strict } = described;
    if (strict === true) edits.add('tools.function.strict');
    return {
      name,
      ...(typeof description === 'string' && { description }),
      parametersJsonSchema: inlinedSchema(objectSchema(parameters)),
    };
  });
  return [{ functionDeclarations }];
}

/** Null: the model decides by itself. */
export function geminiToolConfig({ toolChoice }: ChatRequest): JsonObject | null {
  if (toolChoice === null) return null;
  const functionCallingConfig: { readonly [name: string]: JsonValue } =
    'mode' in toolChoice
      ? { mode: toolChoice.mode === 'required' ? 'ANY' : toolChoice.mode.toUpperCase() }
      : { mode: 'ANY', allowedFunctionNames: [toolChoice.functionName] };
  return { functionCallingConfig };
}
