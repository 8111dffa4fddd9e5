interface ReadNumber {
  readonly value?: number;
  readonly problem?: string;
}

/** The number that a field holds, or why it holds none; neither: it is empty. JSON has no other numbers than finite ones. */
export function readNumber(text: string): ReadNumber {
  if (text.trim() === '') return {};
  const value = Number(text);
  return Number.isFinite(value) ? { value } : { problem: 'Must be a number' };
}

export function readWholeNumber(text: string): ReadNumber {
  const number = readNumber(text);
  const isWhole = number.value === undefined || Number.isInteger(number.value);
  return isWhole ? number : { problem: 'Must be a whole number' };
}
