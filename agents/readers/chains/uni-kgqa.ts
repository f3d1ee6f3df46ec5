/**
 * UniKGQA with frozen sentence vectors: relations are read by their names, so that those never trained on have scores too.
 *
 *   l_k[r] = MLP(U r ⊙ (W_k q + b_k))        g = W_h q + b_h
 *
 * with z-scored vectors q of the masked question and r of the relation's words. Pretraining brings what belongs together near, before
 * any chain is scored: the relation r_k of the chain that answers best against all others,
 *
 *   L = −log exp(cos(U r_k, W_k q) / τ) / Σ_r exp(cos(U r, W_k q) / τ)
 *
 * Its abstract subgraph is the trie of feasible chains here, its retrieval the search for the best of them.
 *
 * @source Jiang et al. 2023, arXiv:2212.00959, sections 4.2 (matching) and 4.3 (pretraining)
 */
import type { HostTaped, SimdTape } from '../../../src/nn/simd/tape.js';
import { uniformFanIn } from '../../../src/nn/parameters.js';
import { relationTexts } from '../../dialogue-walker/vectors.js';
import { ScaledTexts, vectorScale } from '../../relation-walker/question-vectors.js';
import type { ReaderBasis, ReaderFacts } from '../facts.js';
import type { ReaderKind } from '../reader.js';
import { denseStarts, questionBasis, questionInput } from '../words/inputs.js';
import { chainReader } from './chain-reader.js';
import { noInstructions } from './independent.js';
import { type ChainNetwork, factoredNetwork } from './network.js';

async function uniNetwork(facts: ReaderFacts, basis: ReaderBasis): Promise<ChainNetwork> {
  const { graph, horizon, settings, encoder, maxTokens } = facts;
  const { width, hops, fit, pretrain } = settings;
  const { numRelations } = graph;
  const question = questionInput(facts, basis);
  const names = relationTexts(graph);
  // Names are of the graph, not of train: all of them may be looked at.
  const relations = new ScaledTexts(encoder, vectorScale(await encoder.encode(names, { maxTokens })), maxTokens);
  await relations.prepare(names);
  const vectors = relations.matrix(names);
  const steps = Array.from({ length: horizon }, (_, k) => `question.${k + 1}`);

  /** A row for each text and relation: what they have in common. */
  const pairs = (tape: SimdTape, count: number, left: HostTaped, right: HostTaped) =>
    tape.multiply(
      tape.rows(
        left,
        Int32Array.from({ length: count * numRelations }, (_, i) => Math.floor(i / numRelations)),
      ),
      tape.rows(
        right,
        Int32Array.from({ length: count * numRelations }, (_, i) => i % numRelations),
      ),
    );
  const scoresOf = ({ values, grads }: HostTaped, rows: number): HostTaped => ({
    values,
    grads,
    rows,
    width: numRelations,
  });
  const ofRelations = (tape: SimdTape) =>
    tape.product(tape.constant(vectors, encoder.dim), tape.parameter('relation', width));

  return factoredNetwork(
    { horizon, order: settings.order },
    {
      prepare: question.prepare,
      initialWeights: (rngOf) => ({
        ...question.initialWeights(rngOf),
        relation: {
          shape: [encoder.dim, width],
          data: uniformFanIn(rngOf('relation'), encoder.dim, encoder.dim * width),
        },
        ...Object.assign({}, ...steps.map((name) => denseStarts(name, question.dim, width, rngOf))),
        ...denseStarts('score.1', width, width, rngOf),
        ...denseStarts('score.2', width, 1, rngOf),
        ...(hops !== 'given' && denseStarts('hops', question.dim, horizon, rngOf)),
      }),
      compute(tape, texts, dropout) {
        const q = tape.dropout(question.read(tape, texts, dropout), fit.dropout, dropout);
        const r = ofRelations(tape);
        return {
          steps: steps.map((name) => {
            const matched = tape.relu(
              tape.dense(pairs(tape, texts.length, tape.dense(q, name, width), r), 'score.1', width),
            );
            return scoresOf(tape.dense(matched, 'score.2', 1), texts.length);
          }),
          hops: hops === 'given' ? undefined : tape.dense(q, 'hops', horizon),
        };
      },
      pretraining(tape, texts) {
        const q = question.read(tape, texts);
        const r = tape.unit(ofRelations(tape));
        const sum = tape.constant(new Float32Array(width).fill(1 / pretrain.temperature), 1);
        return {
          steps: steps.map((name) =>
            scoresOf(
              tape.product(pairs(tape, texts.length, tape.unit(tape.dense(q, name, width)), r), sum),
              texts.length,
            ),
          ),
        };
      },
    },
  );
}

/** Questions and relations by name, matched at each relation of a chain. */
export const uniKgqa: ReaderKind = {
  title: 'UniKGQA, frozen sentence vectors',
  networkSize: ({ fit, width }, textDim) => ({ rows: fit.batchSize, inputs: textDim, units: width }),
  problems: (settings) => [
    ...noInstructions(settings),
    settings.pretrain.steps > settings.fit.steps &&
      `expected reader.pretrain.steps of at most reader.fit.steps, got ${settings.pretrain.steps} of ${settings.fit.steps}`,
  ],
  basis: questionBasis,
  create: async (facts, basis) => chainReader(facts, await uniNetwork(facts, basis)),
};
