/** When the limit of a key resets, for a field. */
export const KEY_RESETS = [
  { value: '', label: 'Never' },
  { value: 'daily', label: 'Every day' },
  { value: 'weekly', label: 'Every week, on Monday' },
  { value: 'monthly', label: 'Every month' },
] as const;
