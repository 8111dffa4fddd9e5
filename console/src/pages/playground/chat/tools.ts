// The tools of a call, as the field of the page holds them.

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
