/** A walker's network with what feeds it. */
import type { Featurizer } from './features/featurizer.js';
import type { WalkerHead } from './head.js';
import type { StateReader } from './state-reader.js';

/** A network with the featurizer that feeds it. */
export interface Policy {
  head: WalkerHead;
  featurizer: Featurizer;
  /** Where states are read one by one: must have read a request before the featurizer is asked for it. */
  reader?: StateReader;
}
