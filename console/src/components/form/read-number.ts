/** The number that a field holds, or why it holds none; neither: it is empty. JSON has no other numbers than finite ones. */
export function readNumber(text: string): { readonly value?: number; readonly problem?: string } {
  if (text.trim() === '') return {};
  const value = Number(text);
  return Number.isFinite(value) ? { value } : { problem: 'Must be a number' };
}
