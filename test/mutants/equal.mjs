/** Mutants that change nothing that can be seen, by their keys, with the reason. */
export const equal = {};
