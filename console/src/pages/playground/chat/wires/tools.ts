// The tools of a call, as the field of the page holds them and as each API takes them.

interface ReadTools {
  /** Undefined: none. */
  readonly tools?: readonly unknown[];
  readonly problem?: string;
}

export const EXAMPLE_TOOLS = JSON.stringify(
  [
    {
      type: 'function',
      function: {
        name: 'get_weather',
        description: 'The weather of a city',
        parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
      },
    },
  ],
  null,
  2,
);

/** The service checks the members; the page checks that it can send them. */
export function readTools(text: string): ReadTools {
  if (text.trim() === '') return {};
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return { problem: `Not valid JSON: ${error instanceof Error ? error.message : String(error)}` };
  }
  return Array.isArray(value) ? { tools: value } : { problem: 'Must be a list of tools: [ … ]' };
}

type Members = Readonly<Record<string, unknown>>;

export interface FunctionTool {
  /** `name`, `description`, `strict`. */
  readonly described: Members;
  readonly parameters: unknown;
  /** Members beside the function, such as `cache_control`. */
  readonly beside: Members;
}

/** A function in the form of Chat, Messages or Responses, as `toForm` writes it; other tools stay as they are. */
export function mapFunctions(
  tools: readonly unknown[] | undefined,
  toForm: (tool: FunctionTool) => object,
): readonly unknown[] | undefined {
  return tools?.map((tool) => {
    const read = functionOf(tool);
    return read === null ? tool : toForm(read);
  });
}

function functionOf(tool: unknown): FunctionTool | null {
  if (!isMembers(tool)) return null;
  const { type, function: called, ...flat } = tool;
  if (isMembers(called)) {
    const { parameters, ...described } = called;
    return { described, parameters, beside: flat };
  }
  const { name, description, strict, parameters, input_schema: schema, ...beside } = flat;
  if (typeof name !== 'string' || (type !== 'function' && schema === undefined)) return null;
  return { described: { name, description, strict }, parameters: parameters ?? schema, beside };
}

const isMembers = (value: unknown): value is Members => typeof value === 'object' && value !== null;
