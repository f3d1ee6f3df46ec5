/**
 * Readers of one vector of the question, where all of composition must be in that vector.
 *
 * `independent`: a head for each relation of the chain, l_t = W_t relu(U q + b) + b_t, and one for their number: what a pooled vector
 * can do.
 */
import type { ReaderBasis, ReaderFacts } from '../facts.js';
import type { ReaderKind } from '../reader.js';
import { denseStarts, questionBasis, questionInput } from '../words/inputs.js';
import { chainReader } from './chain-reader.js';
import { type ChainNetwork, factoredNetwork } from './network.js';

function independentNetwork(facts: ReaderFacts, basis: ReaderBasis): ChainNetwork {
  const { graph, horizon, settings } = facts;
  const { hidden, hops, fit } = settings;
  const question = questionInput(facts, basis);
  const heads = Array.from({ length: horizon }, (_, t) => `relations.${t + 1}`);
  return factoredNetwork(
    { horizon, order: settings.order },
    {
      prepare: question.prepare,
      initialWeights: (rngOf) => ({
        ...question.initialWeights(rngOf),
        ...denseStarts('question', question.dim, hidden, rngOf),
        ...Object.assign({}, ...heads.map((name) => denseStarts(name, hidden, graph.numRelations, rngOf))),
        ...(hops !== 'given' && denseStarts('hops', hidden, horizon, rngOf)),
      }),
      compute(tape, texts, dropout) {
        const q = tape.dropout(question.read(tape, texts, dropout), fit.dropout, dropout);
        const read = tape.relu(tape.dense(q, 'question', hidden));
        return {
          steps: heads.map((name) => tape.dense(read, name, graph.numRelations)),
          hops: hops === 'given' ? undefined : tape.dense(read, 'hops', horizon),
        };
      },
    },
  );
}

/** A head a relation over one vector of the question. */
export const independent: ReaderKind = {
  title: 'one vector, independent heads',
  networkSize: ({ fit, hidden }, textDim) => ({ rows: fit.batchSize, inputs: textDim, units: hidden }),
  problems: noInstructions,
  basis: questionBasis,
  create: (facts, basis) => chainReader(facts, independentNetwork(facts, basis)),
};

/** Problems of settings that need attention. */
export function noInstructions({ kind, hops }: Pick<ReaderFacts['settings'], 'kind' | 'hops'>): (string | false)[] {
  return [
    hops === 'instructions' &&
      `expected reader.hops=pooled or given with reader.kind=${kind}, which attends to no words, got instructions`,
  ];
}
