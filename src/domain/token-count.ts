/** The most tokens that a record can hold. A higher count is a defect of an upstream and is rejected. */
export const MAX_TOKENS = 2 ** 31 - 1;
