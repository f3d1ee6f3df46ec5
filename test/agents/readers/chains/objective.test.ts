import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { bestChain } from '../../../../agents/readers/chains/decode.js';
import { type ChainBounds, ChainFinder, type FeasibleChains } from '../../../../agents/readers/chains/feasible.js';
import { type ChainScores, factoredNetwork, rowsOf } from '../../../../agents/readers/chains/network.js';
import {
  type ChosenChains,
  chainLoss,
  chainWeights,
  logSoftmaxRows,
} from '../../../../agents/readers/chains/objective.js';
import { type FrontierNode, frontierTrie } from '../../../../envs/relation-walk/frontier-trie.js';
import { type GoldSet, goldSet, scoreFrontier } from '../../../../envs/relation-walk/rules.js';
import { Graph } from '../../../../src/kg/graph.js';
import { Rng } from '../../../../src/run/seeds.js';
import { type HostTaped, SimdParameters, SimdTape } from '../../../../src/nn/simd/tape.js';
import { normalValues } from '../../../../src/nn/parameters.js';
import { checkProperty } from '../../../fixtures/property.js';
import { filmGraph, filmQuestions } from '../../../fixtures/toy-questions.js';

/** Three relations, two at most in a chain: rows 0 and 1 score relations, row 2 their number. */
const rows = Int32Array.of(0, 3, 6, 8);

/** Five feasible chains: two of one relation, three of two. */
const toy: ChosenChains = {
  choices: Int32Array.from([
    ...[0, 0, 2, 0],
    ...[0, 2, 2, 0],
    ...[0, 0, 1, 1, 2, 1],
    ...[0, 0, 1, 2, 2, 1],
    ...[0, 2, 1, 0, 2, 1],
  ]),
  offsets: Int32Array.of(0, 2, 4, 7, 10, 13),
  f1: Float64Array.of(0, 0.4, 1, 0, 0.25),
};
const scores = Float32Array.from({ length: 8 }, (_, i) => Math.sin(3 * i + 1));

describe('the chain objective', () => {
  test('has the gradient that is measured', () => {
    const { grad } = chainLoss(scores, rows, [toy, { ...toy, f1: Float64Array.of(1, 0, 0, 0, 0) }]);
    for (const i of scores.keys()) {
      const at = (offset: number) =>
        chainLoss(scores.with(i, scores[i]! + offset), rows, [toy, { ...toy, f1: Float64Array.of(1, 0, 0, 0, 0) }])
          .loss;
      const step = 2 ** -8;
      expect((at(step) - at(-step)) / (2 * step)).toBeCloseTo(grad[i]!, 4);
    }
  });

  test('shares of the chains sum to 1, and those without reward have next to none', () => {
    const { weights } = chainWeights(logSoftmaxRows(scores, rows), rows, toy);
    expect(weights.reduce((a, b) => a + b, 0)).toBeCloseTo(1, 12);
    expect(weights[0]! + weights[3]!).toBeLessThan(1e-4);
  });

  test('is −log(1 + 1e-6) where the right chain is certain', () => {
    const sure = Float32Array.of(100, 0, 0, 0, 100, 0, 0, 100);
    const { loss, expectedF1 } = chainLoss(sure, rows, [toy]);
    expect(loss).toBeCloseTo(-Math.log(1 + 1e-6), 9);
    expect(expectedF1).toBeCloseTo(1, 9);
  });

  test('is finite where every chain has a probability that underflows', () => {
    const steep = Float32Array.of(2000, 0, 0, 0, 0, 0, 0, 0);
    const { loss } = chainLoss(steep, rows, [
      { ...toy, choices: Int32Array.of(0, 1), offsets: Int32Array.of(0, 1), f1: Float64Array.of(1) },
    ]);
    expect(loss).toBeCloseTo(2000 - Math.log(1 + 1e-6), 6);
  });

  test('is −log Σ F / (H · R^h) before anything is learned', () => {
    const { loss } = chainLoss(new Float32Array(8), rows, [toy]);
    const [one, two] = [1 / (2 * 3), 1 / (2 * 9)];
    const reward = one * (0.4 + 2e-6) + two * (1.25 + 3e-6);
    expect(loss).toBeCloseTo(-Math.log(reward), 9);
  });
});

const listed = ({ relations, offsets, ...rest }: FeasibleChains) => ({
  chains: [...rest.f1.keys()].map((c) => relations.slice(offsets[c], offsets[c + 1])),
  ...rest,
});

describe('feasible chains', () => {
  const graph = filmGraph();
  const [, , question] = filmQuestions(graph);
  const root = frontierTrie(graph).root(question!.task.topics.map(({ entity }) => entity));
  const finder = new ChainFinder(graph);
  const found = (bounds: ChainBounds) => listed(finder.find(question!.task, goldSet(question!.gold), bounds));

  test('are all that lead somewhere, each with the F1 of where it leads', () => {
    const { chains, f1, cut } = found({ horizon: 2, widest: 100 });
    const named = chains.map((chain, i) =>
      [...[...chain].map((relation) => graph.relationNames[relation]!), f1[i]!].join(' '),
    );
    expect(cut).toBe(false);
    // From tenet: its director, its actor, its year; then the director's other films, since tenet does not come back.
    expect(named.sort()).toEqual(['directed_by 0', 'directed_by ~directed_by 1', 'starring 0', 'year 0']);
  });

  test('can be of one length, and say where a bound cut some off', () => {
    const bounds = { horizon: 3, widest: 1, length: 3 };
    const { chains, cut } = found(bounds);
    expect({ chains, cut }).toEqual({ chains: [], cut: true });
    const all = found({ ...bounds, widest: 100 });
    expect(all.chains.every(({ length }) => length === 3)).toBe(true);
    expect(all.chains.length).toBeGreaterThan(0);
  });

  test('are those that walking the trie finds, question after question with one scratch', () => {
    const id = fc.integer({ min: 0, max: 7 });
    const edges = fc.array(fc.tuple(id, fc.integer({ min: 0, max: 1 }), id), { maxLength: 40 });
    const asked = fc.record({
      topics: fc.uniqueArray(id, { minLength: 1 }),
      golds: fc.uniqueArray(id),
      topicsReturn: fc.boolean(),
    });
    checkProperty(
      fc.property(edges, fc.array(asked), fc.integer({ min: 1, max: 8 }), (triples, questions, widest) => {
        const names = Array.from({ length: 8 }, (_, i) => `e${i}`);
        const column = (k: 0 | 1 | 2) => Int32Array.from(triples, (triple) => triple[k]);
        const small = new Graph('g', names, ['a', 'b'], { heads: column(0), relations: column(1), tails: column(2) });
        const smallFinder = new ChainFinder(small);
        for (const { topics, golds, topicsReturn } of questions) {
          const gold: GoldSet = { entities: Int32Array.from(golds).sort(), size: golds.length + 1 };
          const walked: (readonly [string, number])[] = [];
          let cut = false;
          let level = [frontierTrie(small).root(topics, topicsReturn ? [] : topics)];
          for (let hop = 1; hop <= 3; hop++) {
            const nodes = level.flatMap((node) => [0, 1].map((relation) => node.follow(relation)));
            const some = nodes.filter(({ frontier }) => frontier.entities.length > 0);
            walked.push(...some.map((node) => [node.relations.join(), scoreFrontier(node.frontier, gold).f1] as const));
            level = some.filter(({ frontier }) => frontier.entities.length <= widest);
            cut ||= hop < 3 && level.length < some.length;
          }
          const task = { topics: topics.map((entity) => ({ name: names[entity]!, entity })), topicsReturn };
          const ours = listed(smallFinder.find(task, gold, { horizon: 3, widest }));
          expect(ours.chains.map((chain, c) => [chain.join(), ours.f1[c]])).toEqual(walked);
          expect(ours.cut).toBe(cut);
        }
      }),
    );
  });

  test.each([false, true])('the best of them is found with the term of its length, backward=%p', (backward) => {
    for (let draw = 0; draw < 50; draw++) {
      const rng = Rng.named(draw, 'test/scores');
      const logs = Array.from({ length: 3 }, () =>
        Float64Array.from({ length: graph.numRelations }, () => -4 * rng.uniform()),
      );
      const ends = Float64Array.from({ length: 3 }, () => -8 * rng.uniform());
      const made: ChainScores = {
        backward,
        relations: (chain, length) => logs[backward ? length - 1 - chain.length : chain.length]!,
        end: ({ length }) => ends[length - 1]!,
        mostEnd: (length) => Math.max(...ends.subarray(length - 1)),
      };
      const probability = (chain: Int32Array) =>
        chain.reduce(
          (sum, relation, t) => sum + logs[backward ? chain.length - 1 - t : t]![relation]!,
          ends[chain.length - 1]!,
        );
      const all = found({ horizon: 3, widest: 100 }).chains.map(probability);
      const { found: best } = bestChain(root, made, { horizon: 3 });
      expect(best!.logProb).toBeCloseTo(Math.max(...all), 12);
      expect(probability(best!.node.relations)).toBeCloseTo(best!.logProb, 12);
    }
  });

  test.each([false, true])('have in training the probability that they have in the search, backward=%p', (backward) => {
    const parameters = new SimdParameters({ x: { shape: [1], data: new Float32Array(1) } });
    const tape = new SimdTape(parameters);
    const drawn = (name: string, width: number) => tape.constant(normalValues(Rng.named(1, name), 1, 2 * width), width);
    // The second text's row is what a text alone is computed to be.
    const lastRow = ({ values, width }: HostTaped) => tape.constant(values.slice(width), width);
    const compute = (_: SimdTape, texts: readonly string[]) => {
      tape.begin();
      const [steps, hops] = [['a', 'b', 'c'].map((name) => drawn(name, graph.numRelations)), drawn('hops', 3)];
      return texts.length === 2 ? { steps, hops } : { steps: steps.map(lastRow), hops: lastRow(hops) };
    };
    const none = { prepare: () => Promise.resolve(), initialWeights: () => ({}) };
    const network = factoredNetwork({ horizon: 3, order: backward ? 'backward' : 'forward' }, { ...none, compute });
    const chains = finder.find(question!.task, goldSet(question!.gold), { horizon: 3, widest: 100 });
    const { parts, choicesOf } = network.record(tape, { texts: ['', 'x'], textOf: [1], chains: [chains] });
    const { choices, offsets } = choicesOf(0);
    const begins = rowsOf(parts);
    const logs = logSoftmaxRows(tape.outputs(parts).values, begins);
    const trained = listed(chains).chains.map((_, c) => {
      let sum = 0;
      for (let i = offsets[c]!; i < offsets[c + 1]!; i++) sum += logs[begins[choices[2 * i]!]! + choices[2 * i + 1]!]!;
      return sum;
    });
    const scores = network.scores(tape, 'x');
    const searched = listed(chains).chains.map((chain) =>
      chain.reduce(
        (sum, relation, t) => sum + scores.relations(chain.subarray(0, t), chain.length)[relation]!,
        scores.end(chain),
      ),
    );
    searched.forEach((sum, c) => expect(sum).toBeCloseTo(trained[c]!, 6));
  });

  test('of a length that leads nowhere a shorter one is taken', () => {
    const flat: ChainScores = { relations: () => new Float64Array(graph.numRelations), end: () => 0, mostEnd: () => 0 };
    const lonely = frontierTrie(graph).root([graph.entityId('washington')]);
    const [of3, of1] = [3, 1].map(
      (length) => bestChain(lonely, flat, { horizon: 3, length }).found!.node.relations.length,
    );
    expect([of3, of1]).toEqual([3, 1]);
    expect(bestChain(frontierTrie(graph).root([]), flat, { horizon: 3, length: 2 }).found).toBeUndefined();
  });
});

/** A node from which every relation leads on, without end. */
function endless(numRelations: number, relations: number[] = []): FrontierNode {
  const choices = new Uint8Array(numRelations + 1).fill(1);
  return {
    relations: Int32Array.from(relations),
    choices: () => choices,
    follow: (relation: number) => endless(numRelations, [...relations, relation]),
  } as unknown as FrontierNode;
}

/** Scores in steps of one, so that many chains are equally probable. */
function coarse(seed: number, numRelations: number): ChainScores {
  const rng = Rng.named(seed, 'test/coarse');
  const logs = Array.from({ length: 3 }, () => Float64Array.from({ length: numRelations }, () => -rng.integer(3)));
  const ends = Float64Array.from({ length: 3 }, () => -rng.integer(4));
  return {
    relations: ({ length }) => logs[length]!,
    end: ({ length }) => ends[length - 1]!,
    mostEnd: (length) => Math.max(...ends.subarray(length - 1)),
  };
}

/** The same search over a list that is scanned from its beginning each time: what stands first of equal ones was added first. */
function scanned(root: FrontierNode, scores: ChainScores): number[] {
  const open = [{ node: root, log: 0, bound: 0, whole: false }];
  for (;;) {
    const best = Math.max(...open.map(({ bound }) => bound));
    const at = open.findIndex(({ bound }) => bound === best);
    const [{ node, log, whole }] = open.splice(at, 1) as [(typeof open)[number]];
    const chain = node.relations;
    if (whole) return [...chain];
    if (chain.length > 0) open.push({ node, log, bound: log + scores.end(chain), whole: true });
    if (chain.length === 3) continue;
    for (let relation = 0; relation + 1 < node.choices().length; relation++) {
      const sum = log + scores.relations(chain, 3)[relation]!;
      const bound = sum + scores.mostEnd(chain.length + 1);
      open.push({ node: node.follow(relation), log: sum, bound, whole: false });
    }
  }
}

describe('the search for the best chain', () => {
  test('takes of equally probable chains the one that it found first', () => {
    const found = Array.from({ length: 60 }, (_, seed) => {
      const scores = coarse(seed, 5);
      const chain = [...bestChain(endless(5), scores, { horizon: 3 }).found!.node.relations];
      expect(chain).toEqual(scanned(endless(5), scores));
      return chain.join();
    });
    expect(new Set(found).size).toBeGreaterThan(10);
  });

  test('gives up soon, however much is open', () => {
    const flat = new Float64Array(40);
    const never: ChainScores = { relations: () => flat, end: () => -1, mostEnd: () => 0 };
    const begin = performance.now();
    expect(bestChain(endless(40), never, { horizon: 9 })).toEqual({ found: undefined, tried: 20_000 });
    // About a second as a heap; a list that is scanned for its best takes time by the square of what it holds.
    expect(performance.now() - begin).toBeLessThan(20_000);
  });
});
