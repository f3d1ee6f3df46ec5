/**
 * Readers that attend to the words of a question, once for each relation of a chain.
 *
 * NSM's instructions, each of which knows the one before:
 *
 *   O = BiGRU(words)    q = its ends    i_0 = 0
 *   c_k = W_c [i_{k−1} ; W_k q + b_k] + b_c        α = softmax_j(w · (c_k ⊙ O_j))        i_k = Σ_j α_j O_j        l_k = W_r i_k + b_r
 *   g = W_h [i_1 ; i_2 ; i_3] + b_h    or, with hops=pooled,    W_h q + b_h
 *
 * TransferNet's attention, which knows the question alone: c_k = tanh(W_k q + b_k), α = softmax_j(c_k · O_j), and g = W_h q + b_h.
 *
 * Neither has states of entities here: where chains lead is read from the graph, and the chain objective trains what chooses them.
 *
 * @source He et al. 2021, arXiv:2101.03737, equations 1 to 3 (NSM); Shi et al. 2021, arXiv:2104.07302, equations 3 to 6 (TransferNet)
 */
import type { Numbers, Rows } from '../../../src/nn/executor.js';
import type { Dropping, Tape, Taped } from '../../../src/nn/tape.js';
import { uniformFanIn } from '../../../src/nn/parameters.js';
import type { ReaderBasis } from '../facts.js';
import type { ReaderKind } from '../reader.js';
import type { ReaderSettings } from '../settings.js';
import { denseStarts, wordBasis, type WordFacts, wordInput } from '../words/inputs.js';
import { chainReader } from './chain-reader.js';
import { type ChainShape, type FactoredParts, type FactoredScores, factoredNetwork } from './network.js';

type Attention = 'nsm' | 'transfernet';

/** Inputs of word attention; `hops` defaults to the attention's own. */
export interface AttentionFacts extends WordFacts {
  settings: WordFacts['settings'] & Partial<Pick<ReaderSettings, 'hops'>>;
}

/** Parts that any executor computes. */
interface AttentionParts extends FactoredParts {
  compute<N extends Numbers, R extends Rows>(
    tape: Tape<N, R>,
    texts: readonly string[],
    dropout?: Dropping,
  ): FactoredScores<N>;
}

/** Attention over words, with scores of relations for each step and of the number of relations. */
export function attentionScores(
  attention: Attention,
  facts: AttentionFacts,
  { numRelations, horizon }: ChainShape,
  basis: ReaderBasis,
): AttentionParts {
  const { settings } = facts;
  const words = wordInput(facts, basis);
  const wide = 2 * settings.width;
  const hops = settings.hops ?? usualHops[attention];
  const ofAttended = hops === 'instructions';
  const hopInputs = ofAttended ? horizon * wide : wide;
  const steps = Array.from({ length: horizon }, (_, k) => `question.${k + 1}`);
  const isNsm = attention === 'nsm';
  return {
    prepare: words.prepare,
    initialWeights: (rngOf) => ({
      ...words.initialWeights(rngOf),
      ...Object.assign({}, ...steps.map((name) => denseStarts(name, wide, wide, rngOf))),
      ...(isNsm && {
        ...denseStarts('instruction', 2 * wide, wide, rngOf),
        attention: { shape: [wide], data: uniformFanIn(rngOf('attention'), wide, wide) },
      }),
      ...denseStarts('relations', wide, numRelations, rngOf),
      ...(hops !== 'given' && denseStarts('hops', hopInputs, horizon, rngOf)),
    }),
    compute<N extends Numbers, R extends Rows>(tape: Tape<N, R>, texts: readonly string[], dropout?: Dropping) {
      const { states, ends, offsets } = words.read(tape, texts, dropout);
      const dropped = (x: Taped<N>) => tape.dropout(x, settings.fit.dropout, dropout);
      let before = tape.zeros(ends.rows, wide);
      const attended = steps.map((name) => {
        const asked = tape.dense(dropped(ends), name, wide);
        // A bias within the softmax would cancel.
        const query = isNsm
          ? tape.multiply(
              tape.dense(tape.concat([before, asked]), 'instruction', wide),
              tape.parameter('attention', wide),
            )
          : tape.tanh(asked);
        return (before = tape.attend(query, states, offsets));
      });
      return {
        steps: attended.map((x) => tape.dense(x, 'relations', numRelations)),
        hops:
          hops === 'given'
            ? undefined
            : tape.dense(dropped(ofAttended ? tape.concat(attended) : ends), 'hops', horizon),
      };
    },
  };
}

const usualHops: Record<Attention, NonNullable<ReaderSettings['hops']>> = {
  nsm: 'instructions',
  transfernet: 'pooled',
};

/** Read forwards, NSM's instructions lose the last relation of chains that train never shows. */
const usualOrder: Record<Attention, NonNullable<ReaderSettings['order']>> = { nsm: 'backward', transfernet: 'forward' };

const kindOf = (attention: Attention, title: string): ReaderKind => ({
  title,
  networkSize: ({ fit, width }) => ({ rows: fit.batchSize * 16, inputs: 2 * width, units: 3 * width }),
  basis: wordBasis,
  create: (facts, basis) => {
    const order = facts.settings.order ?? usualOrder[attention];
    const shape = { numRelations: facts.graph.numRelations, horizon: facts.horizon, order };
    return chainReader(facts, factoredNetwork(shape, attentionScores(attention, facts, shape, basis)));
  },
});

/** NSM's instruction generator, trained by the chain objective: no subgraph, no states of entities. */
export const nsmChains = kindOf('nsm', 'NSM chains');

/** TransferNet's attention and hop selector, trained by the chain objective. */
export const transferNetChains = kindOf('transfernet', 'TransferNet chains');
