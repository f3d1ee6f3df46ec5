/** The encoder of walkers that read no text. */
import { WorkbenchError } from '../run/errors.js';
import { noCounts, type StateEncoder } from './state-encoder.js';

/** An encoder without a model, of vectors without numbers. Asking it for a vector is an error. */
export function noEncoder(): StateEncoder {
  const refuse = () =>
    Promise.reject(new WorkbenchError('failure', 'expected no texts, got some, at a walk without texts'));
  return {
    id: 'none',
    name: 'none',
    dim: 0,
    prefixBlock: 0,
    counters: noCounts(),
    encode: refuse,
    held: (texts) => new Uint8Array(texts.length),
    countTokens: refuse,
    dispose: () => Promise.resolve(),
  };
}
