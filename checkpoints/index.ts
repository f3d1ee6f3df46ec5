/** Checkpoints as a library: `import { readCheckpoint } from 'kgwalk/checkpoints'`. @module kgwalk/checkpoints */
export * from './chain.js';
export * from './checkpoint.js';
export * from './keeper.js';
export * from './model-card.js';
export * from './safetensors.js';
export * from './store.js';
