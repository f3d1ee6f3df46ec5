/**
 * The public face of the environments: `import { makeEnv } from 'kgwalk/envs'`.
 * @module kgwalk/envs
 */
export * from './check-env.js';
export * from './classic/cart-pole.js';
export * from './classic/grid.js';
export * from './classic/masked-bandit.js';
export * from './dialogue-walk/dialogue-walk-env.js';
export * from './dialogue-walk/hits.js';
export * from './dialogue-walk/reward.js';
export * from './dialogue-walk/rules.js';
export { renderStateText, type StateTextFields, verbalizePath } from './dialogue-walk/state-text.js';
export * from './dialogue-walk/walk-graph.js';
export * from './env.js';
export * from './link-query/link-query-batch.js';
export * from './link-query/link-query-env.js';
export { linkQueryId, linkQueryWorld } from './link-query/world.js';
export type * from './link-query/world.js';
export * from './registry.js';
export * from './relation-walk/frontier-trie.js';
export * from './relation-walk/relation-walk-env.js';
export * from './relation-walk/rules.js';
export * from './spaces.js';
export * from './vector-env.js';
export * from './wrappers/episodes.js';
export * from './wrappers/normalizer.js';
