// Tools, and the choice of one, in Gemini's wire.
import type { ChatRequest, ChatTool, JsonObject, JsonValue } from '../../../domain/chat/chat-request.js';
import { describedFunction, objectSchema } from '../kernel-parts.js';
import { inlinedSchema } from './inlined-schema.js';

/** `edits` receives what is lost. */
export function geminiTools(tools: readonly ChatTool[], edits: Set<string>): readonly JsonObject[] {
  const functionDeclarations = tools.map((tool): JsonObject => {
    const { description, parameters, isStrict } = describedFunction(tool);
    if (isStrict) edits.add('tools.function.strict');
    return {
      name: tool.name,
      ...(description !== null && { description }),
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
