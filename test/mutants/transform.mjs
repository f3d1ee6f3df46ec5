/** Jest's transform of the tests, which puts the mutant in hand into its file: nothing on disk is changed. */
import { createHash } from 'node:crypto';
import { relative } from 'node:path';
import { env } from 'node:process';
import swc from '@swc/jest';
import { mutated } from './mutate.mjs';

/** The mutant that `worker.mjs` runs, where it is of this file. */
function mutantOf(filename) {
  const mutant = env.KGWALK_MUTANT ? JSON.parse(env.KGWALK_MUTANT) : undefined;
  return mutant?.file === relative(import.meta.dirname + '/../..', filename) ? mutant : undefined;
}

export default {
  createTransformer(options) {
    const inner = swc.createTransformer(options);
    const source = (text, filename) => {
      const mutant = mutantOf(filename);
      return mutant ? mutated(text, mutant) : text;
    };
    return {
      canInstrument: false,
      // Not by jest's settings, which differ from mutant to mutant: the other files stay in the cache.
      getCacheKey: (text, filename) => createHash('sha256').update(`${filename}\0${source(text, filename)}`).digest('hex'), // prettier-ignore
      process: (text, filename, rest) => inner.process(source(text, filename), filename, rest),
      processAsync: async (text, filename, rest) => inner.process(source(text, filename), filename, rest),
    };
  },
};
