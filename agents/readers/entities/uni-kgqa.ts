/**
 * UniKGQA with frozen sentence vectors: shares of entities move over a question's subgraph along the facts whose relation matches it.
 * Relations are read by their names, so that those never trained on match, too.
 *
 *   m^k_r = relu(W_R^k U r ⊙ (W_Q^k q + b_k))        e⁰_v = σ(Σ_r ln(1 + facts of v by r) W_T m¹_r)
 *   ẽ_v = Σ p^{k−1}_u m^k_r over u −r→ v             e^k_v = relu(W_E^k [e^{k−1}_v ; ẽ_v] + b)        p^k as in NSM
 *
 * with z-scored vectors q of the masked question and r of the relation's words. In the first steps the loss has another part, which
 * brings the relation r_k of the chain that answers best near, against all others:
 *
 *   −log exp(cos(W_R^k U r_k, W_Q^k q + b_k) / τ) / Σ_r exp(cos(W_R^k U r, W_Q^k q + b_k) / τ)
 *
 * @source Jiang et al. 2023, arXiv:2212.00959, sections 4.2 (matching, propagation) and 4.3 (pretraining)
 */
import { maskedQuestion, type QuestionSample } from '../../../datasets/question.js';
import { goldSet } from '../../../envs/relation-walk/rules.js';
import { distinctTexts } from '../../../src/encoder/state-encoder.js';
import type { Subgraphs } from '../../../src/kg/subgraphs.js';
import { Rng } from '../../../src/run/seeds.js';
import type { HostTaped, SimdTape } from '../../../src/nn/simd/tape.js';
import { uniformFanIn } from '../../../src/nn/parameters.js';
import { relationTexts } from '../../dialogue-walker/vectors.js';
import { ScaledTexts, vectorScale } from '../../relation-walker/question-vectors.js';
import { ChainFinder } from '../chains/feasible.js';
import type { ReaderBasis, ReaderFacts } from '../facts.js';
import type { ReaderKind } from '../reader.js';
import { denseStarts, questionBasis, questionInput } from '../words/inputs.js';
import { entityBatch, type EntityBatch } from './entity-batch.js';
import { entityReader, type EntityNetwork } from './entity-reader.js';
import { matches, reason, square, walkStarts } from './nsm-network.js';

/** Questions and relations by name, matched at each step of a walk of shares. */
export const uniKgqa: ReaderKind = {
  title: 'UniKGQA, frozen sentence vectors',
  networkSize: ({ entities }) => ({ rows: 4 * entities.most, inputs: entities.dim, units: entities.dim }),
  problems: ({ hops, fit, pretrain, entities: { teacher } }) => [
    hops !== null &&
      `expected reader.hops=null with reader.kind=uni-kgqa, whose walks may stay where they are, got ${hops}`,
    teacher !== 'none' && `expected reader.entities.teacher=none with reader.kind=uni-kgqa, got ${teacher}`,
    pretrain.steps > fit.steps &&
      `expected reader.pretrain.steps of at most reader.fit.steps, got ${pretrain.steps} of ${fit.steps}`,
  ],
  basis: questionBasis,
  async create(facts, basis) {
    const vectors = await relationVectors(facts);
    return entityReader(facts, (subgraphs) => uniNetwork(facts, basis, subgraphs, vectors(subgraphs)));
  },
};

/** Vectors of all relations of subgraphs. Names are of the graph, not of train: all of them may be looked at. */
async function relationVectors({ graph, encoder, maxTokens }: ReaderFacts) {
  const names = relationTexts(graph);
  const loop = 'the same';
  const all = [...names, ...names.map((name) => `inverse of ${name}`), loop];
  const texts = new ScaledTexts(encoder, vectorScale(await encoder.encode(names, { maxTokens })), maxTokens);
  await texts.prepare(all);
  return ({ numRelations, selfLoop, inverseOf }: Pick<Subgraphs, 'numRelations' | 'selfLoop' | 'inverseOf'>) =>
    texts.matrix(
      Array.from({ length: numRelations }, (_, id) =>
        id === selfLoop ? loop : (names[id] ?? `inverse of ${names[inverseOf[id]!]}`),
      ),
    );
}

/** @param vectors of the subgraphs’ relations, float32 [numRelations, encoder.dim] */
export function uniNetwork(
  facts: ReaderFacts,
  basis: ReaderBasis,
  subgraphs: Subgraphs,
  vectors: Float32Array,
): EntityNetwork<EntityBatch> {
  const { graph, horizon, settings, encoder, seed } = facts;
  const { entities, fit, pretrain, widest } = settings;
  const { dim } = entities;
  const shape = { numRelations: subgraphs.numRelations, hops: horizon, dim };
  const question = questionInput(facts, basis);
  const finder = new ChainFinder(graph);
  const rngOf = (name: string) => Rng.named(seed, `reader/${name}`);
  const steps = Array.from({ length: horizon }, (_, k) => `question.${k}`);
  return {
    prepare: question.prepare,
    initialWeights: {
      ...question.initialWeights(rngOf),
      relation: { shape: [encoder.dim, dim], data: uniformFanIn(rngOf('relation'), encoder.dim, encoder.dim * dim) },
      ...Object.assign({}, ...steps.map((name) => denseStarts(name, question.dim, dim, rngOf))),
      ...square('kind', dim, rngOf),
      ...walkStarts(shape, rngOf),
    },
    lay: (tasks, cut) => entityBatch(subgraphs, tasks, horizon, cut),
    compute(tape, tasks, batch, lesson) {
      const { distinct, rows: textOf } = distinctTexts(tasks.map(maskedQuestion));
      const q = tape.dropout(question.read(tape, distinct, lesson?.rng), fit.dropout, lesson?.rng);
      const asked = steps.map((name) => tape.dense(q, name, dim));
      const relation = tape.product(tape.constant(vectors, encoder.dim), tape.parameter('relation', dim));
      const kinds = tape.product(matches(tape, relation, asked, 0, textOf), tape.parameter('kind', dim));
      const states = tape.sigmoid(
        tape.weightedSums(tape.constant(batch.kinds, 1), kinds, batch.rowOf, batch.slotOf, batch.entities.length),
      );
      const { scores } = reason(tape, asked, textOf, batch, shape, { states, relation });
      if (!lesson?.pretraining) return { scores };
      const chains = lesson.pretraining.map((sample) => bestChain(finder, sample, { horizon, widest }));
      return { scores, more: contrast(tape, relation, asked, textOf, chains, pretrain.temperature) };
    },
  };
}

/** The part of the loss of each step: sums over the questions whose chain goes so far. */
export function contrast(
  tape: SimdTape,
  relation: HostTaped,
  asked: readonly HostTaped[],
  textOf: Int32Array,
  chains: readonly ArrayLike<number>[],
  temperature: number,
): HostTaped[] {
  const count = relation.rows;
  return asked.flatMap((question, k) => {
    const shown = [...chains.keys()].filter((q) => k < chains[q]!.length);
    if (shown.length === 0) return [];
    const pairs = Int32Array.from({ length: shown.length * count }, (_, i) => i);
    const cosines = tape.dots(
      tape.unit(question),
      pairs.map((i) => textOf[shown[Math.floor(i / count)]!]!),
      tape.unit(tape.times(relation, `message.${k}`)),
      pairs.map((i) => i % count),
      1 / temperature,
    );
    const logs = tape.segmentLogSoftmax(
      cosines,
      Int32Array.from({ length: shown.length + 1 }, (_, i) => i * count),
    );
    const right = Int32Array.from(shown, (q, i) => i * count + chains[q]![k]!);
    const minus = tape.constant(new Float32Array(shown.length).fill(-1), 1);
    return [tape.weightedSums(minus, logs, new Int32Array(shown.length), right, 1)];
  });
}

/** Relations of the chain that answers best: of equal ones the first, which is the shortest. None where no chain is right at all. */
function bestChain(
  finder: ChainFinder,
  { task, gold }: QuestionSample,
  search: { horizon: number; widest: number },
): ArrayLike<number> {
  const { relations, offsets, f1 } = finder.find(task, goldSet(gold), { ...search, length: undefined });
  const best = f1.reduce((first, value, c) => (value > f1[first]! ? c : first), 0);
  return f1[best]! > 0 ? relations.subarray(offsets[best], offsets[best + 1]) : [];
}
