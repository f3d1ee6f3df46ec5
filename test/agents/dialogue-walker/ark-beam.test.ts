/** LLM-ARK's beam out of the walker's scores, against its bookkeeping written out slowly, slot by slot. */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { noiseHead, noisePolicy, taskAt } from '../../fixtures/noise-walker.js';
import { graphOfIds } from '../../fixtures/toy-walks.js';
import { randomBaseline } from '../../../agents/baselines/baseline.js';
import { walkCollector } from '../../../agents/top-paths.js';
import { beamSearch, walkerAgent } from '../../../agents/dialogue-walker/agent.js';
import { actionLogProbs } from '../../../trainers/actor.js';
import { type Policy, StateReader, walkerActor } from '../../../agents/dialogue-walker/policy.js';
import { Featurizer } from '../../../agents/dialogue-walker/features/featurizer.js';
import type { WalkSample, WalkTask } from '../../../datasets/walk-sample.js';
import {
  actionTriple,
  applyAction,
  initialState,
  type WalkRules,
  type WalkState,
} from '../../../envs/dialogue-walk/rules.js';
import { stateTextSettings } from '../../../envs/settings.js';
import { evaluationSettings } from '../../../trainers/run-settings.js';
import { hashedEncoder } from '../../../src/encoder/hashed-encoder.js';
import { type Graph, type Path, type Triple } from '../../../src/kg/graph.js';
import { arkRanks, type ArkRanks } from '../../../src/metrics/ranks.js';
import { Rng } from '../../../src/run/seeds.js';
import { evaluatedDialogues } from '../../fixtures/evaluated.js';
import { checkProperty } from '../../fixtures/property.js';
import { longTest } from '../../fixtures/long-tests.js';

const rules: WalkRules = { horizon: 2, equalAtStep1: false };

const graphOf = (numEntities: number, triples: readonly Triple[]) => graphOfIds(numEntities, ['r', 's', 't'], triples);

const sampleAt = (graph: Graph, id: string, gold: Path): WalkSample => ({
  task: taskAt(graph, gold[0]![0], id),
  gold: { path: gold, target: gold.at(-1)![2], inGraph: true },
});

const policyOver = (graph: Graph, samples: readonly WalkSample[], head = noiseHead(), walkRules = rules) =>
  noisePolicy(
    graph,
    samples.map(({ task }) => task),
    walkRules,
    head,
  );

/** Every walk of one or two edges from `start`, without stays. */
function goldsFrom(graph: Graph, start: number): Path[] {
  const edgesOf = (head: number) =>
    Array.from({ length: graph.degree(head) }, (_, i) => actionTriple(graph, { current: head } as WalkState, i));
  return edgesOf(start).flatMap((first) => [[first], ...edgesOf(first[2]).map((second) => [first, second])]);
}

/** The slot of an edge in the table of actions: staying is 0, pads come last. */
interface Slot {
  triple: Triple | 'pad';
  logProb: number;
}

const masked = -99999;
const slotsAState = 50;
const beamSlots = 20;

/**
 * The reference's test, for all golds of one start: 20 × 50 tables, pads with a large negative score, flags and a list of
 * forbidden slots that live through both steps.
 */
async function slowRanks(policy: Policy, task: WalkTask, golds: readonly Path[]): Promise<ArkRanks[]> {
  const { graph } = policy.featurizer.parts;
  const pads = (count: number): Slot[] => Array.from({ length: count }, () => ({ triple: 'pad', logProb: masked }));
  const tableOf = async (state: WalkState | undefined): Promise<Slot[]> => {
    if (!state) return pads(slotsAState);
    const { logProbs } = await actionLogProbs(walkerActor(policy), [{ task, state }]);
    const actions = Array.from(logProbs, (logProb, i): Slot => ({ triple: actionTriple(graph, state, i), logProb }));
    const isStay = ({ triple }: Slot) => triple[1] === graph.equalRelation;
    const edges = actions.filter((slot) => !isStay(slot));
    const stay = actions.find(isStay) ?? {
      triple: [state.current, graph.equalRelation, state.current] as Triple,
      logProb: masked,
    };
    return [stay, ...edges, ...pads(slotsAState - 1 - edges.length)];
  };
  interface Beam {
    logProb: number;
    path: (Triple | 'pad')[];
  }
  let beams: Beam[] = [{ logProb: 0, path: [] }];
  const flags = new Map<string, boolean[]>();
  const forbidden = new Set<number>();
  let listed: Beam[] = [];
  const targets = new Set(golds.flatMap((gold) => [gold[0]![2], gold.at(-1)![2]]));
  for (const target of targets) flags.set(`${target}`, Array(beamSlots).fill(target === task.start) as boolean[]);

  for (let step = 1; step <= 2; step++) {
    const expanded: Beam[] = [];
    for (const { path, logProb } of beams) {
      const steps = path.filter((triple) => triple !== 'pad');
      let state: WalkState | undefined = initialState(graph, task.start, rules);
      for (const triple of steps) {
        const action: number = Array.from({ length: graph.degree(state.current) }, (_, i) => i).find(
          (i) => `${actionTriple(graph, state!, i)}` === `${triple}`,
        )!;
        state = applyAction(graph, state, action, rules);
      }
      if (steps.length < path.length) state = undefined;
      for (const slot of await tableOf(state)) {
        expanded.push({ path: [...path, slot.triple], logProb: logProb + slot.logProb });
      }
    }
    beams = expanded.sort((a, b) => b.logProb - a.logProb).slice(0, beamSlots);
    beams.forEach(({ path }, slot) => {
      const reached = path.at(-1)!;
      // Staying at the first step is masked like a pad.
      const isPad = reached === 'pad' || (step === 1 && reached[1] === graph.equalRelation);
      if (isPad) {
        forbidden.add(slot);
        beams[slot] = { ...beams[slot]!, path: Array(step).fill('pad') as 'pad'[] };
        return;
      }
      for (const target of targets) if (reached[2] === target) flags.get(`${target}`)![slot] = true;
    });
    listed = beams.filter((_, slot) => !forbidden.has(slot));
  }
  const wordsOf = (path: readonly (Triple | 'pad')[]) => path.map(String).join(' ');
  return golds.map((gold) => {
    const [first, second = [gold[0]![2], graph.equalRelation, gold[0]![2]] as const] = gold;
    const wanted = wordsOf([first!, second]);
    const rankOf = (found: boolean[]) => found.indexOf(true) + 1;
    return {
      path: rankOf(listed.map(({ path }) => wordsOf(path) === wanted)),
      target: rankOf(flags.get(`${first![2]}`)!),
      anyTarget: rankOf(flags.get(`${gold.at(-1)![2]}`)!),
    };
  });
}

describe('LLM-ARK’s beam out of the strict one', () => {
  test('B-ARK-9: gives the ranks of the published bookkeeping, on graphs of all densities', async () => {
    const anyGraph = fc
      .record({ entities: fc.integer({ min: 2, max: 30 }), edges: fc.integer({ min: 1, max: 160 }), seed: fc.nat(999) })
      .map(({ entities, edges, seed }) => {
        const rng = Rng.named(seed, 'test/edges');
        // Half of the edges leave one hub, so that both fewer and more than 20 first steps occur; at most 48 edges a node.
        const left = Array<number>(entities).fill(48);
        const triples = Array.from({ length: edges }, (_, i): Triple => {
          const head = i % 2 === 0 ? 0 : rng.integer(entities);
          return [head, rng.integer(3), rng.integer(entities)];
        }).filter(([head]) => left[head]!-- > 0);
        return graphOf(entities, triples);
      });
    await checkProperty(
      fc.asyncProperty(anyGraph, fc.integer({ min: 20, max: 40 }), async (graph, beamWidth) => {
        const starts = [0, 1].filter((start) => graph.degree(start) > 0);
        const samples = starts.map((start) => sampleAt(graph, `from ${start}`, goldsFrom(graph, start)[0]!));
        const policy = await policyOver(graph, samples);
        const tasks = samples.map(({ task }) => task);
        const rankings = await beamSearch(policy, tasks, beamWidth, walkCollector(graph, { beamWidth }), true);
        for (const [i, task] of tasks.entries()) {
          const golds = goldsFrom(graph, task.start);
          const ranks = golds.map((gold) => arkRanks(rankings[i]!.arkBeam!, gold, graph.equalRelation));
          expect(ranks).toEqual(await slowRanks(policy, task, golds));
        }
      }),
      { numRuns: 25 },
    );
  });

  /** Degrees by a power law; golds drawn by walking at random, 28 in a hundred of two hops. */
  const uninformedWorld = (() => {
    const rng = Rng.named(1, 'test/world');
    const entities = 600;
    const popular = () => Math.floor(entities * rng.uniform() ** 3);
    const triples: Triple[] = [];
    for (let i = 0; i < 3500; i++) {
      const [head, tail] = [popular(), popular()];
      triples.push([head, rng.integer(3), tail], [tail, rng.integer(3), head]);
    }
    const graph = graphOf(entities, triples);
    const step = (head: number): Triple => {
      const edge = graph.offsets[head]! + rng.integer(graph.degree(head));
      return [head, graph.relations[edge]!, graph.tails[edge]!];
    };
    const samples: WalkSample[] = [];
    while (samples.length < 250) {
      const start = rng.integer(entities);
      if (graph.degree(start) === 0 || graph.degree(start) > 40) continue;
      const first = step(start);
      const gold = rng.uniform() < 0.28 ? [first, step(first[2])] : [first];
      samples.push(sampleAt(graph, `sample ${samples.length}`, gold));
    }
    return { graph, samples };
  })();
  const settings = evaluationSettings.parse({ resamples: 1, examples: 0 });
  const about = { dataset: 'made-up', split: 'valid', turns: 'all' };

  longTest(
    'B-ARK-9: an agent that knows nothing has more targets and fewer paths by it than by the strict counts',
    async () => {
      const { graph, samples } = uninformedWorld;
      const options = { graph, settings, seenTargets: new Set<number>(), about };
      const ranking = { beamWidth: settings.beamWidth, arkBeam: true };
      const agents = [
        walkerAgent(await policyOver(graph, samples), { name: 'noise', ...ranking }),
        randomBaseline({ graph, train: [], ranking }),
      ];
      for (const agent of agents) {
        const { metrics } = (await evaluatedDialogues(agent, samples, { ...options, count: 'ark' })).record;
        const of = (key: string) => metrics[key]!.value;
        for (const k of [1, 5, 25]) {
          expect(of(`target-any@${k}`)).toBeGreaterThan(of(`target@${k}`) + 0.05);
          expect(of(`ark-target@${k}`)).toBeGreaterThan(of(`target-any@${k}`));
        }
        expect(of('ark-path@25')).toBeLessThan(of('path@25') - 0.05);
        expect(of('ark-path@1')).toBeCloseTo(of('path@1'), 1);
      }
    },
  );

  test.each([
    ['once a task', false],
    ['at every state', true],
  ])(
    'B-ARK-17: with the text read %s no state is encoded or scored twice, and the rest is what it was',
    async (_, perStep) => {
      const { graph, samples } = uninformedWorld;
      const some = samples.slice(0, 10);
      const evaluate = async (count: 'strict' | 'ark') => {
        const scored = { states: 0 };
        const encoder = hashedEncoder(16);
        const policy = await policyOver(graph, samples, noiseHead(scored));
        const reader = new StateReader(encoder, graph, stateTextSettings.parse({ encode: 'per-step' }));
        const reading = { ...policy, reader, featurizer: new Featurizer({ ...policy.featurizer.parts, perStep }) };
        const ranking = { beamWidth: settings.beamWidth, arkBeam: count === 'ark' };
        const agent = walkerAgent(perStep ? reading : policy, { name: 'noise', ...ranking });
        const options = { graph, settings, seenTargets: new Set<number>(), about, count };
        const { answers } = await evaluatedDialogues(agent, some, options);
        return { scored: scored.states, encoded: { ...encoder.counters, seconds: 0 }, answers };
      };
      const [strict, both] = [await evaluate('strict'), await evaluate('ark')];
      expect(both.scored).toBe(strict.scored);
      expect(both.encoded).toEqual(strict.encoded);
      expect(both.encoded.requests).toBe(perStep ? both.scored : 0);
      const asked = both.answers.map((answer) => answer!);
      expect(asked.map(({ arkBeam, ...answer }) => ({ ...answer, kept: arkBeam !== undefined }))).toEqual(
        strict.answers.map((answer) => ({ ...answer, kept: true })),
      );
    },
  );

  test('a stay at the first step is no part of it', async () => {
    const { graph, samples } = uninformedWorld;
    const staying = await policyOver(graph, samples, noiseHead(), { ...rules, equalAtStep1: true });
    const masking = await policyOver(graph, samples);
    const beamOf = async (policy: Policy) => {
      const [ranking] = await beamSearch(policy, [samples[0]!.task], 30, walkCollector(graph, { beamWidth: 30 }), true);
      return ranking!.arkBeam;
    };
    expect(await beamOf(staying)).toEqual(await beamOf(masking));
  });
});
