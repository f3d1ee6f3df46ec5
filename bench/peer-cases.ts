/** Cases of `npm run check:peers`: inputs of a peer, and results computed from them here. */
import { rankAllWalks, walkCollector } from '../agents/top-paths.js';
import { type BeamActor, linkBeams } from '../agents/path-walker/beam.js';
import { createBilinearStep, queryGroups } from '../agents/embeddings/bilinear/step.js';
import { knownAnswers } from '../src/embedding/known-answers.js';
import { linkRanks } from '../src/embedding/rank-links.js';
import { Graph, type TripleColumns } from '../src/kg/graph.js';
import {
  interquartileMean,
  optimalityGap,
  performanceProfile,
  probabilityOfImprovement,
} from '../src/metrics/aggregate.js';
import { bootstrapMeans, pairedDifferences } from '../src/metrics/bootstrap.js';
import { Rng } from '../src/run/seeds.js';
import { startingWeights } from '../models/llama/weights.js';
import { llamaTensors } from '../src/llama/config.js';
import { forestOf } from '../src/llama/forest.js';
import { embed, lastNorm, layers, logitsOf, trainedWeights } from '../src/llama/forward.js';
import { loraMatrices, loraStart } from '../src/llama/lora.js';
import type { Executor } from '../src/nn/executor.js';
import { type HostTensor, Parameters } from '../src/nn/parameters.js';
import { SimdExecutor } from '../src/nn/simd/executor.js';
import { Tape } from '../src/nn/tape.js';
import { Arena } from '../src/nn/simd/arena.js';
import { openKernels } from '../src/nn/simd/kernels.js';
import { joined, segmentEntropy, segmentLogSoftmax } from '../src/nn/categorical.js';
import { generalizedAdvantages } from '../trainers/advantages.js';
import { createBilinear } from '../agents/embeddings/bilinear/train-bilinear.js';
import { ppoObjective } from '../trainers/ppo-loss.js';
import { ppoSettings } from '../trainers/ppo-settings.js';
import { openShare } from '../agents/embeddings/transe/train-transe.js';
import { transeSettings } from '../agents/embeddings/transe/settings.js';
import { createTransE, createWork, placeStream } from '../agents/embeddings/transe/work.js';

interface PeerCase {
  /** JSON for the peer. */
  input: Record<string, unknown>;
  /** By what they are; the peer answers with the same names. */
  numbers: Record<string, ArrayLike<number>>;
  /** The largest difference, as a share of the largest number; 0: equal. */
  within: number;
}

const rngOf = (name: string) => Rng.named(0, `bench/peers/${name}`);
const floats = (count: number, draw: () => number) => Float32Array.from({ length: count }, draw);
const integers = (count: number, draw: () => number) => Int32Array.from({ length: count }, draw);
const plain = (values: ArrayLike<number>) => Array.from(values);

/** Lists of 1 to 40 actions, side by side. */
function raggedStates(rng: Rng, numStates: number) {
  const offsets = new Int32Array(numStates + 1);
  for (let s = 0; s < numStates; s++) offsets[s + 1] = offsets[s]! + 1 + rng.integer(40);
  return { offsets, logits: floats(offsets[numStates]!, () => 2 * rng.normal()) };
}

function drawnTriples(rng: Rng, count: number, numEntities: number, numRelations: number): TripleColumns {
  const heads = integers(count, () => rng.integer(numEntities));
  const relations = integers(count, () => rng.integer(numRelations));
  return { heads, relations, tails: integers(count, () => rng.integer(numEntities)) };
}

const rowsOf = ({ heads, relations, tails }: TripleColumns) => Array.from(heads, (h, i) => [h, relations[i], tails[i]]);

/** One minibatch: 256 transitions over 100 states, every term of the loss with a weight. */
function ppoMinibatch(): PeerCase {
  const rng = rngOf('ppo');
  const { offsets, logits } = raggedStates(rng, 100);
  const state = integers(256, () => rng.integer(100));
  const action = Int32Array.from(state, (s) => rng.integer(offsets[s + 1]! - offsets[s]!));
  const now = segmentLogSoftmax(logits, offsets);
  const transitions = {
    ...{ state, action },
    // Moved so far that a good part of the ratios is clipped, on either side.
    oldLogProb: Float32Array.from(state, (s, t) => now[offsets[s]! + action[t]!]! + 0.3 * rng.normal()),
    oldValue: floats(256, () => rng.normal()),
    advantage: floats(256, () => rng.normal()),
    returns: floats(256, () => rng.normal()),
  };
  const values = floats(100, () => rng.normal());
  const referenceLogProbs = segmentLogSoftmax(
    floats(logits.length, () => 2 * rng.normal()),
    offsets,
  );
  const settings = ppoSettings.parse({ clipRange: 0.2, clipRangeValue: 0.5, dualClip: 1.5, valueCoef: 0.5, entropyCoef: 0.01, klCoef: 0.1 }); // prettier-ignore
  const { losses, dLogits, dValues } = ppoObjective(
    { logits, offsets, values, referenceLogProbs, transitions },
    settings,
  );
  const columns = Object.fromEntries(Object.entries(transitions).map(([name, column]) => [name, plain(column)]));
  const { clipRange, clipRangeValue, dualClip, valueCoef, entropyCoef, klCoef } = settings;
  return {
    input: {
      ...{ offsets: plain(offsets), logits: plain(logits), values: plain(values), anchor: plain(referenceLogProbs) },
      ...{ ...columns, clipRange, clipRangeValue, dualClip, valueCoef, entropyCoef, klCoef },
    },
    numbers: {
      losses: [losses.loss, losses.policyLoss, losses.valueLoss, losses.entropy, losses.anchorKl],
      'gradient by logits': dLogits,
      'gradient by values': dValues,
    },
    within: 1e-5,
  };
}

/** Eight environments of 64 steps, whose episodes end at any step; the last ones are cut off. */
function advantages(): PeerCase {
  const rng = rngOf('gae');
  const [steps, envs, gamma, gaeLambda] = [64, 8, 0.97, 0.9];
  const count = steps * envs;
  const dones = Uint8Array.from({ length: count }, () => Number(rng.uniform() < 0.15));
  const rewards = floats(count, () => rng.normal());
  const values = floats(count, () => rng.normal());
  const lastValues = floats(envs, () => rng.normal());
  const { advantages, returns } = generalizedAdvantages(
    {
      ...{ rewards, values, terminated: dones },
      next: Int32Array.from({ length: count }, (_, t) => (dones[t] || t + envs >= count ? -1 : t + envs)),
      bootstrapValues: Float32Array.from({ length: count }, (_, t) => lastValues[t % envs]!),
    },
    gamma,
    gaeLambda,
  );
  const input = { rewards: plain(rewards), values: plain(values), dones: plain(dones), lastValues: plain(lastValues) };
  return { input: { ...input, steps, envs, gamma, gaeLambda }, numbers: { advantages, returns }, within: 1e-5 };
}

/** Vectors of small whole numbers: sums are exact, and ties are many. */
function filteredRanks(): PeerCase {
  const rng = rngOf('ranks');
  const [numEntities, numRelations, dim] = [60, 4, 4];
  const asked = drawnTriples(rng, 200, numEntities, numRelations);
  const others = drawnTriples(rng, 1500, numEntities, numRelations);
  const draw = (rows: number) => floats(rows * dim, () => rng.integer(3) - 1);
  const [entities, relations] = [draw(numEntities), draw(numRelations)];
  const ranksBy = (norm: 1 | 2) =>
    linkRanks(
      { model: 'transe', norm, dim, numEntities, numRelations, entities, relations },
      asked,
      knownAnswers([asked, others]),
    );
  return {
    input: {
      ...{ dim, entities: plain(entities), relations: plain(relations) },
      ...{ asked: rowsOf(asked), others: rowsOf(others) },
    },
    numbers: { 'TransE, L1': ranksBy(1), 'TransE, L2': ranksBy(2) },
    within: 0,
  };
}

/** One step of plain descent on one triple, so long that rounding the old numbers off does not show. */
function transe(): PeerCase {
  const triple: TripleColumns = { heads: Int32Array.of(0), relations: Int32Array.of(1), tails: Int32Array.of(2) };
  const [numEntities, numRelations, learningRate] = [40, 2, 2 ** 12];
  const steps = (['self-adversarial', 'margin'] as const).flatMap((loss) =>
    ([1, 2] as const).map((norm) => {
      const common = { dim: 24, margin: 4, negatives: 8, negativeCutoff: 0, temperature: 0.7, optimizer: 'sgd' };
      const settings = transeSettings.parse({ ...common, loss, norm });
      const state = createTransE({ numEntities, numRelations, settings, seed: 3 });
      const { entities, relations } = state.table;
      const work = createWork({ settings, seed: 3, state, train: triple }, 1);
      work.tailChance.fill(1);
      for (const _ of openShare(work).train({ thread: 0, threads: 1 }, 0, learningRate));
      const rng = placeStream(work, 0, 0);
      rng.uniform();
      const negatives: number[] = [];
      while (negatives.length < 8) {
        const entity = rng.integer(numEntities);
        if (entity !== 2) negatives.push(entity);
      }
      const { dim, margin, temperature } = settings;
      const gradient = (before: Float32Array, after: Float32Array) =>
        Float64Array.from(before, (value, i) => (value - after[i]!) / learningRate);
      return {
        name: `${loss}, L${norm}`,
        input: { loss, norm, dim, margin, temperature, negatives, entities: plain(entities), relations: plain(relations) }, // prettier-ignore
        gradients: [
          ...gradient(entities, work.state.table.entities),
          ...gradient(relations, work.state.table.relations),
        ],
        value: work.losses[0]!,
      };
    }),
  );
  return {
    input: { triple: [0, 1, 2], steps: steps.map(({ input }) => input) },
    numbers: {
      losses: steps.map(({ value }) => value),
      ...Object.fromEntries(steps.map(({ name, gradients }) => [`gradients of ${name}`, gradients])),
    },
    within: 1e-5,
  };
}

/** The first step of Adagrad: its squares are those of the gradients, whose signs are those of the moves, turned. */
function complexStep(): PeerCase {
  const rng = rngOf('complex');
  const [numEntities, numPlain, dim, regularization] = [30, 3, 16, 0.01];
  const groups = queryGroups(drawnTriples(rng, 60, numEntities, numPlain), numPlain);
  const arena = new Arena();
  const fresh = createBilinear({ model: 'complex', dim }, { numEntities, numRelations: 2 * numPlain, seed: 5 });
  // Larger than fresh ones, so that scores differ.
  for (const rows of [fresh.table.entities, fresh.table.relations]) rows.forEach((x, i) => (rows[i] = 10 * x));
  const state = arena.hold(fresh);
  const queries = integers(16, () => 0).map((_, i) => 2 * i);
  const settings = { batchSize: 16, negatives: numEntities, regularization };
  const step = createBilinearStep({ arena, kernels: openKernels(arena.memory), state, groups, settings });
  const before = { entities: state.table.entities.slice(), relations: state.table.relations.slice() };
  const loss = step.train(queries, 0.1, rng);
  const gradient = (old: Float32Array, now: Float32Array, squares: Float32Array) =>
    Array.from(old, (value, i) => Math.sign(value - now[i]!) * Math.sqrt(squares[i]!));
  return {
    input: {
      ...{ dim, regularization, entities: plain(before.entities), relations: plain(before.relations) },
      queries: Array.from(queries, (q) => ({
        ...{ given: groups.givens[q], relation: groups.relations[q] },
        answers: plain(groups.answers.subarray(groups.offsets[q], groups.offsets[q + 1])),
      })),
    },
    numbers: {
      loss: [loss],
      gradients: [
        ...gradient(before.entities, state.table.entities, state.entitySquares),
        ...gradient(before.relations, state.table.relations, state.relationSquares),
      ],
    },
    within: 1e-5,
  };
}

/** Lists of legal actions here, a mask over a whole list there. */
function categorical(): PeerCase {
  const rng = rngOf('categorical');
  const [numStates, width] = [200, 40];
  const logits = floats(numStates * width, () => 3 * rng.normal());
  const mask = integers(logits.length, () => Number(rng.uniform() < 0.4));
  for (let s = 0; s < numStates; s++) mask[s * width + rng.integer(width)] = 1;
  const legal = plain(mask).flatMap((isLegal, i) => (isLegal ? [i] : []));
  const offsets = new Int32Array(numStates + 1);
  for (const i of legal) offsets[Math.floor(i / width) + 1]!++;
  for (let s = 0; s < numStates; s++) offsets[s + 1]! += offsets[s]!;
  const logProbs = segmentLogSoftmax(
    Float32Array.from(legal, (i) => logits[i]!),
    offsets,
  );
  return {
    input: { numStates, width, logits: plain(logits), mask: plain(mask) },
    numbers: { 'log-probabilities of legal actions': logProbs, entropies: segmentEntropy(logProbs, offsets) },
    within: 1e-5,
  };
}

/** Draws differ, so that ends of intervals agree to the error of 50,000 resamples alone. */
function bootstrap(): PeerCase {
  const rng = rngOf('bootstrap');
  const clusters = Array.from({ length: 300 }, (_, c) => Array<number>(1 + rng.integer(6)).fill(c)).flat();
  const lift = Array.from({ length: 300 }, () => 0.3 * rng.uniform());
  const draw = (chance: number) => clusters.map((c) => Number(rng.uniform() < chance + lift[c]!));
  const [a, b] = [draw(0.42), draw(0.38)];
  const [interval] = bootstrapMeans([a], clusters, { resamples: 50_000 });
  const [difference] = pairedDifferences([a], [b], clusters, { resamples: 50_000 });
  const ends = ({ value, low, high }: { value: number; low: number; high: number }) => [value, low, high];
  return {
    input: { clusters, a, b, resamples: 50_000 },
    numbers: {
      'mean with its interval': ends(interval!),
      'difference with its interval, and p': [...ends(difference!), difference!.pValue],
    },
    within: 0.02,
  };
}

/** Scores of two agents, five and seven runs on each of six data sets, in steps of a tenth so that some are equal. */
function aggregates(): PeerCase {
  const rng = rngOf('aggregates');
  const draw = (runs: number) =>
    Array.from({ length: 6 }, () => Array.from({ length: runs }, () => rng.integer(13) / 10));
  const [a, b] = [draw(5), draw(7)];
  const thresholds = Array.from({ length: 14 }, (_, i) => i / 10 - 0.05);
  return {
    input: { a, b, thresholds },
    numbers: {
      'interquartile mean, optimality gap': [interquartileMean(a), optimalityGap(a)],
      'probability of improvement': [probabilityOfImprovement(a, b)],
      'performance profile': performanceProfile(a, thresholds),
    },
    within: 1e-10,
  };
}

/** A graph of 25 entities, whose names are their ids. */
function toyGraph(rng: Rng, numTriples: number): Graph {
  const names = (count: number) => Array.from({ length: count }, (_, i) => `${i}`);
  return new Graph('toy', names(25), names(3), drawnTriples(rng, numTriples, 25, 3));
}

/** Every walk of one or two hops, by scores that are drawn for each; the 40 best of them. */
function rankedWalks(): PeerCase {
  const rng = rngOf('walks');
  const graph = toyGraph(rng, 300);
  const [start, beamWidth] = [3, 40];
  const one = floats(graph.numEdges, () => 2 * rng.normal() - 4);
  const two = floats(graph.numEdges * graph.numEdges, () => 2 * rng.normal() - 6);
  const { paths, answers } = rankAllWalks(
    graph,
    { id: 'x', dialogueId: 'x', messages: [], sender: 'user', start, startName: '3', earlierPaths: [] },
    { oneHop: (edge) => one[edge]!, twoHops: (first) => (second) => two[first * graph.numEdges + second]! },
    walkCollector(graph, { beamWidth }),
  );
  const byEntity = [...answers].sort((x, y) => x.entity - y.entity);
  return {
    input: {
      ...{ start, beamWidth, one: plain(one), two: plain(two) },
      ...{ offsets: plain(graph.offsets), tails: plain(graph.tails) },
    },
    numbers: {
      'log-probabilities of the best': paths.map(({ logProb }) => logProb),
      'ends of the best': paths.map(({ path }) => path.at(-1)![2]),
      'summed log-probabilities of entities': byEntity.map(({ summedLogProb }) => summedLogProb),
    },
    within: 1e-5,
  };
}

/** Ten queries of three steps, of which five walks continue; logits are drawn for each entity, step and action. */
async function beams(): Promise<PeerCase> {
  const rng = rngOf('beams');
  const graph = toyGraph(rng, 120);
  const [beamWidth, horizon, width] = [5, 3, 40];
  const logits = floats(graph.numEntities * horizon * width, () => 2 * rng.normal());
  const score: BeamActor['score'] = (requests) => {
    const offsets = new Int32Array(requests.length + 1);
    requests.forEach(({ length }, i) => (offsets[i + 1] = offsets[i]! + length));
    const all = joined(
      requests.map(({ current, hop, length }) => {
        const at = (current * horizon + hop) * width;
        return logits.subarray(at, at + length);
      }),
    );
    // Nothing is trained: of a policy a beam asks for these alone.
    return { offsets, infer: () => Promise.resolve(all) } as ReturnType<BeamActor['score']>;
  };
  const actor = { score, numScores: ({ length }) => length, maxScoresPerBatch: Infinity } as BeamActor;
  const queries = Array.from({ length: 10 }, (_, head) => ({ head, relation: 0 }));
  const found = await linkBeams(actor, graph, queries, { beamWidth, horizon });
  const ordered = found.flatMap(({ entities, best, sum }) =>
    Array.from(entities, (entity, i) => ({ entity, best: best[i]!, sum: sum[i]! })).sort((x, y) => x.entity - y.entity),
  );
  return {
    input: {
      ...{ beamWidth, horizon, width, heads: queries.map(({ head }) => head), logits: plain(logits) },
      ...{ offsets: plain(graph.offsets), tails: plain(graph.tails) },
    },
    numbers: {
      'entities that are reached': ordered.map(({ entity }) => entity),
      'log-probabilities of the best walks': ordered.map(({ best }) => best),
      'summed log-probabilities': ordered.map(({ sum }) => sum),
    },
    within: 1e-5,
  };
}

/** Low-rank matrices and every weight of a small Llama; two sequences that begin alike are a forest here and each a row there. */
async function llama(): Promise<PeerCase> {
  const rng = rngOf('llama');
  const sizes = { vocabSize: 40, contextLength: 64, dim: 32, layers: 2, heads: 4, kvHeads: 2, hiddenDim: 48 };
  const config = { ...sizes, ropeTheta: 10_000, normEps: 1e-5 };
  const [beginning, first, second] = [7, 4, 3].map((length) => integers(length, () => rng.integer(40)));
  const forest = forestOf([
    { ids: beginning!, parent: -1 },
    { ids: first!, parent: 0 },
    { ids: second!, parent: 0 },
  ]);
  const lora = { rank: 3, alpha: 6, from: 0, matrices: loraMatrices };
  const start: Record<string, HostTensor> = { ...loraStart(config, lora, 1) };
  const names = Object.keys(start);
  const whole = startingWeights(config, 2);
  for (const { name, shape } of llamaTensors(config)) start[name] = { shape: [...shape], data: whole.get(name)! };
  for (const { data } of Object.values(start)) data.forEach((value, i) => (data[i] = value + 0.1 * rng.normal()));
  const parameters = new Parameters(new SimdExecutor() as Executor, start);
  const tape = new Tape(parameters);
  const weights = trainedWeights(tape, undefined, lora.alpha / lora.rank);
  const x = layers(tape, config, weights, forest, embed(tape, weights, forest));
  const outputs = tape.outputs([logitsOf(tape, weights, lastNorm(tape, config, weights, x))]);
  const logits = await outputs.read();
  const by = floats(logits.length, () => rng.normal());
  outputs.backward(by);
  const gradients = await parameters.export(parameters.gradients);
  const of = (some: readonly string[]) => joined(some.map((name) => gradients[name]!.data));
  return {
    input: {
      ...{ ...config, scale: lora.alpha / lora.rank, by: plain(by), names },
      ids: [beginning, first, second].map((part) => plain(part!)),
      tensors: Object.fromEntries(Object.entries(start).map(([name, { shape, data }]) => [name, [shape, plain(data)]])),
    },
    numbers: {
      logits,
      'gradients by low-rank matrices': of(names),
      'gradients by weights': of(parameters.names.filter((name) => !names.includes(name))),
    },
    within: 1e-4,
  };
}

/** By what the table calls them. */
export const cases: Readonly<Record<string, () => PeerCase | Promise<PeerCase>>> = {
  'a minibatch of PPO': ppoMinibatch,
  'generalised advantages': advantages,
  'filtered ranks': filteredRanks,
  'a step of TransE': transe,
  'a step of ComplEx': complexStep,
  'masked categorical': categorical,
  'bootstrap over clusters': bootstrap,
  'scores over data sets': aggregates,
  'walks of a dialogue': rankedWalks,
  'beams of link queries': beams,
  'a forest of tokens in a Llama': llama,
};
