/** What the module of kernels exports; `../kernels.ts` states the same for TypeScript. */
export * from './distances';
