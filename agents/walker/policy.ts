/** A walker's network with what feeds it: log-probabilities of legal actions, in chunks of bounded memory. */
import { segmentLogSoftmax } from '../../src/tensor/categorical.js';
import { numActions } from '../../envs/rules.js';
import type { ActionLogProbs } from '../actor.js';
import type { Featurizer, StateRequest } from './features/featurizer.js';
import type { WalkerHead } from './head.js';
import type { StateReader } from './state-reader.js';

/** A network with the featurizer that feeds it. */
export interface Policy {
  head: WalkerHead;
  featurizer: Featurizer;
  /** Where states are read one by one: must have read a request before the featurizer is asked for it. */
  reader?: StateReader;
}

/** Legal actions scored at once; larger chunks no longer run faster and hold more memory. */
const maxChunkActions = 16384;

/**
 * Log-probabilities of all legal actions of the given states, none cut. Each state must have one.
 * @param forRanking whether no training follows: the head may then compute them where it is faster
 */
export async function actionLogProbs(
  policy: Policy,
  requests: readonly StateRequest[],
  forRanking = false,
): Promise<ActionLogProbs> {
  const { head, reader } = policy;
  await reader?.read(requests);
  const offsets = new Int32Array(requests.length + 1);
  const parts: Float32Array[] = [];
  for (const chunk of chunksByActions(policy.featurizer, requests)) {
    const batch = policy.featurizer.batch(chunk.requests);
    parts.push(
      segmentLogSoftmax(await (forRanking && head.rank ? head.rank(batch) : head.infer(batch)), batch.offsets),
    );
    const base = offsets[chunk.begin]!;
    for (let s = 0; s < batch.numStates; s++) offsets[chunk.begin + s + 1] = base + batch.offsets[s + 1]!;
  }
  const logProbs = new Float32Array(offsets.at(-1)!);
  let at = 0;
  for (const part of parts) {
    logProbs.set(part, at);
    at += part.length;
  }
  return { logProbs, offsets };
}

/** Cuts requests, kept in order, into runs of at most `maxChunkActions` legal actions (one state may exceed it). */
function* chunksByActions(featurizer: Featurizer, requests: readonly StateRequest[]) {
  const { graph, rules } = featurizer.parts;
  let begin = 0;
  let actions = 0;
  for (let i = 0; i < requests.length; i++) {
    const { state } = requests[i]!;
    const count = requests[i]!.actions?.length ?? numActions(graph, state, rules);
    if (i > begin && actions + count > maxChunkActions) {
      yield { begin, requests: requests.slice(begin, i) };
      begin = i;
      actions = 0;
    }
    actions += count;
  }
  if (begin < requests.length) yield { begin, requests: requests.slice(begin) };
}
