import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { walkSamples } from '../../../datasets/walk-sample.js';
import { registerReward, rewardKinds } from '../../../envs/dialogue-walk/hits.js';
import { initialState, numActions } from '../../../envs/dialogue-walk/rules.js';
import { walkGraph } from '../../../envs/dialogue-walk/walk-graph.js';
import { checkEnv, embeddingPotential, envIds, makeEnv, registerEnv, shapingReward } from '../../../envs/index.js';
import { envSettings } from '../../../envs/settings.js';
import { type Graph, unknownId } from '../../../src/kg/graph.js';
import { edgesOf, hubDataset, hubGraph } from '../../fixtures/hub-dialogues.js';
import { checkProperty } from '../../fixtures/property.js';
import { graphOf, sampleOf, toyTwoHop } from '../../fixtures/toy-walks.js';

const { graph, samples } = toyTwoHop();
const id = 'kgwalk/OpenDialKG-v1';
const path = { kind: 'path', hit: 1, miss: -1 } as const;
const target = { kind: 'target', hit: 1, miss: 0 } as const;

/** Walks named edges, `stay` for a stay, and returns the last result. */
function walk(env: ReturnType<typeof makeEnv<typeof id>>, sample: number, steps: string[]) {
  let { observation } = env.reset({ options: { sample } });
  let result;
  for (const step of steps) {
    const [relation, tail] = step.split(' ');
    const { relations, tails } = observation;
    const edge = relations.findIndex(
      (r, i) => graph.relationNames[r] === relation && graph.entityNames[tails[i]!] === tail,
    );
    result = env.step(step === 'stay' ? relations.length : edge);
    observation = result.observation;
  }
  return result!;
}

describe('kgwalk/OpenDialKG-v1', () => {
  test('keeps the promises of an environment', () => {
    checkEnv(makeEnv(id, { graph, samples }), { refusals: true });
    checkEnv(makeEnv(id, { graph, samples, rules: { horizon: 3, equalAtStep1: true } }), { refusals: true, seed: 7 });
  });

  test('pays for the gold path at the end and nothing before', () => {
    const env = makeEnv(id, { graph, samples, reward: path });
    expect(walk(env, 0, ['directed_by nolan'])).toMatchObject({ reward: 0, terminated: false });
    expect(walk(env, 0, ['directed_by nolan', 'directed tenet'])).toMatchObject({ reward: 1, terminated: true });
    expect(walk(env, 0, ['directed_by nolan', 'wrote tenet'])).toMatchObject({ reward: -1, info: { hit: false } });
    expect(walk(env, 1, ['written_by nolan', 'stay'])).toMatchObject({ reward: 1, info: { hit: true } });
    expect(walk(env, 1, ['directed_by nolan', 'stay']).reward).toBe(-1);
  });

  test('pays for any way to the target when asked to', () => {
    const env = makeEnv(id, { graph, samples, reward: target });
    expect(walk(env, 0, ['written_by nolan', 'wrote tenet']).reward).toBe(1);
    expect(walk(env, 0, ['written_by nolan', 'born_in london']).reward).toBe(0);
  });

  test('pays for the end of the first hop when asked to, which the last hop of the gold is not', () => {
    const reward = { kind: 'first-hop', hit: 1, miss: -1 } as const;
    const env = makeEnv(id, { graph, samples, reward, rules: { horizon: 1, equalAtStep1: false } });
    expect(walk(env, 0, ['written_by nolan'])).toMatchObject({ reward: 1, terminated: true, info: { hit: true } });
    expect(walk(env, 0, ['genre heist'])).toMatchObject({ reward: -1, terminated: true, info: { hit: false } });
    // The target of this one is Halifax, and no gold of one hop leads there.
    expect(walk(env, 2, ['starring page']).reward).toBe(1);
  });

  test('never pays for a gold outside the graph', () => {
    const outside = [
      sampleOf(graph, 'x', 'hi', 'film', [['film', 'genre', 'atlantis']]),
      sampleOf(graph, 'y', 'hi', 'film', [['film', 'starring', 'heist']]),
    ];
    expect(outside.map((sample) => sample.gold.target)).toEqual([unknownId, graph.entityId('heist')]);
    for (const reward of [path, target]) {
      const env = makeEnv(id, { graph, samples: outside, reward });
      for (const sample of [0, 1]) expect(walk(env, sample, ['genre heist', 'stay']).reward).toBe(reward.miss);
    }
  });

  test('shows the task and never the gold', () => {
    const { observation, info } = makeEnv(id, { graph, samples }).reset({ options: { sample: 0 } });
    expect(observation.task).toBe(samples[0]!.task);
    expect(JSON.stringify({ observation, info })).not.toContain('gold');
  });

  test('gives the edges as views of the graph', () => {
    const { observation } = makeEnv(id, { graph, samples }).reset({ options: { sample: 0 } });
    expect(observation.tails.buffer).toBe(graph.tails.buffer);
    expect(observation.actionMask.length).toBe(graph.degree(graph.entityId('film')));
  });

  test('renders what does not change first', () => {
    const earlierPaths = [[[graph.entityId('film'), graph.relationId('genre'), unknownId] as const]];
    const task = { ...samples[0]!.task, earlierPaths };
    const env = makeEnv(id, { graph, samples: [{ ...samples[0]!, task }] });
    env.reset();
    const before = env.render();
    env.step(0);
    const after = env.render();
    const fields =
      'Conversation:\nuser: another film by its director\nEarlier paths:\n- film -[genre]-> (not in the graph)\nNext speaker: assistant\n';
    expect(before).toContain(`${fields}Walk: film\nStep 1 at film\n`);
    expect(after).toContain(`${fields}Walk: film -[directed_by]-> nolan\nStep 2 at nolan\n`);
    expect(after.slice(0, after.indexOf('Walk:'))).toBe(before.slice(0, before.indexOf('Walk:')));
  });

  test('draws walkable samples only, but gives any that is asked for', () => {
    const stuck = sampleOf(graph, 'x', 'hi', 'atlantis', [['film', 'genre', 'heist']]);
    const env = makeEnv(id, { graph, samples: [stuck, samples[0]!] });
    for (let seed = 0; seed < 20; seed++) expect(env.reset({ seed }).info).toEqual({ sample: 1, done: false });
    const { observation, info } = env.reset({ options: { sample: 0 } });
    expect(info).toEqual({ sample: 0, done: true });
    expect(observation.actionMask.length).toBe(0);
    expect(observation.currentEntity).toBe('atlantis');
    expect(() => env.step(0)).toThrow('expected a running episode');
    expect(() => makeEnv(id, { graph, samples: [stuck] })).toThrow('expected a sample whose start has edges');
  });

  test('refuses a sample that is not there', () => {
    const env = makeEnv(id, { graph, samples });
    for (const sample of [-1, 5, 0.5, '0'])
      expect(() => env.reset({ options: { sample } })).toThrow(/expected a sample/);
  });

  test('shaping adds up to minus the potential of the start, for any walk', () => {
    const potential = (state: { current: number }) => 0.1 * state.current + 0.3;
    const plain = makeEnv(id, { graph, samples });
    const shaped = makeEnv(id, { graph, samples, potential });
    for (const steps of [
      ['directed_by nolan', 'directed tenet'],
      ['starring page', 'stay'],
    ]) {
      const total = (env: typeof plain) => walk(env, 0, steps.slice(0, 1)).reward + walk(env, 0, steps).reward;
      expect(total(shaped) - total(plain)).toBeCloseTo(-potential({ current: samples[0]!.task.start }), 12);
    }
  });

  test('shaping discounts the next potential', () => {
    const at = (current: number, done: boolean) => ({ start: 0, current, hop: 1, path: [], done });
    const potential = (state: { current: number }) => state.current;
    expect(shapingReward(potential, samples[0]!, at(2, false), at(5, false), 0.5)).toBe(0.5);
    expect(shapingReward(potential, samples[0]!, at(2, false), at(5, true), 0.5)).toBe(-2);
  });

  test('the embedding potential is the cosine to the target', () => {
    const vectors = new Float32Array(graph.numEntities * 2).fill(1);
    vectors.set([3, 0], 2 * samples[0]!.gold.target);
    const potential = embeddingPotential(vectors, 2);
    const state = { start: 0, current: 0, hop: 0, path: [], done: false };
    expect(potential(state, samples[0]!)).toBeCloseTo(Math.SQRT1_2, 12);
    expect(potential({ ...state, current: unknownId }, samples[0]!)).toBe(0);
  });
});

describe('the registry of environments', () => {
  test('knows ours and says so where an id is unknown', () => {
    expect(envIds()).toContain(id);
    expect(() => makeEnv('kgwalk/Nowhere-v1' as typeof id, { graph, samples })).toThrow(/expected a known environment/);
    expect(() => registerEnv('nowhere', () => () => makeEnv(id, { graph, samples }))).toThrow(/expected an id/);
  });

  test('the settings have the defaults of the published walkers', () => {
    expect(envSettings.parse({})).toEqual({
      id,
      horizon: 2,
      equalAtStep1: false,
      edgePolicy: 'full',
      maxOut: 50,
      reward: { kind: 'path', hit: 1, miss: 0 },
      shaping: 'none',
    });
  });
});

test('a reward has a name that no other has', () => {
  registerReward('test/never', () => false);
  expect(rewardKinds()).toEqual(['target', 'path', 'first-hop', 'test/never']);
  for (const kind of ['path', 'test/never'])
    expect(() => registerReward(kind, () => true)).toThrow(`got "${kind}", which is registered already`);
});

const policies = ['full', 'topk-degree', 'ark'] as const;
const edges = (graph: Graph) =>
  graph.entityNames.flatMap((head) => edgesOf(graph, head).map((edge) => `${head} ${edge}`));

describe('every policy', () => {
  test.each(policies)(
    '%s: leaves a graph of the same names and ids, in the same order, and lists no longer than asked',
    (edgePolicy) => {
      for (const maxOut of [2, 3, 5, 12, 50]) {
        const { graph } = walkGraph(hubGraph, { edgePolicy, maxOut }, hubDataset);
        expect(graph.entityNames).toEqual(hubGraph.entityNames);
        expect(graph.relationNames).toEqual(hubGraph.relationNames);
        expect(edges(graph)).toEqual(edges(hubGraph).filter((edge) => edges(graph).includes(edge)));
        if (edgePolicy === 'full') continue;
        const rules = { horizon: 2, equalAtStep1: true };
        for (const [entity] of graph.entityNames.entries()) {
          const expected = Math.min(maxOut - 1, hubGraph.degree(entity));
          expect(numActions(graph, initialState(graph, entity, rules), rules)).toBe(expected + 1);
        }
      }
    },
  );

  test.each(policies)('%s: makes the same lists again', (edgePolicy) => {
    const made = () => walkGraph(hubGraph, { edgePolicy, maxOut: 4 }, hubDataset);
    expect(made().graph.hash).toBe(made().graph.hash);
    expect(made().selection).toEqual(made().selection);
  });

  test.each(policies)('%s: makes an environment that keeps its promises', (edgePolicy) => {
    const { graph } = walkGraph(hubGraph, { edgePolicy, maxOut: 4 }, hubDataset);
    const samples = walkSamples(hubDataset.loadDialogues('train'), hubGraph);
    for (const equalAtStep1 of [true, false]) {
      checkEnv(makeEnv('kgwalk/OpenDialKG-v1', { graph, samples, rules: { horizon: 3, equalAtStep1 } }), {
        refusals: true,
      });
    }
  });

  test('nothing is copied where nothing is cut', () => {
    expect(walkGraph(hubGraph, { edgePolicy: 'full', maxOut: 2 })).toEqual({ graph: hubGraph });
    const { graph, selection } = walkGraph(hubGraph, { edgePolicy: 'topk-degree', maxOut: 13 });
    expect(graph).toBe(hubGraph);
    expect(selection).toMatchObject({ entitiesCut: 0, kept: hubGraph.numEdges });
  });
});

describe('topk-degree', () => {
  test('gives every relation its turn, the tails with the most edges first', () => {
    const kept = (maxOut: number) => edgesOf(walkGraph(hubGraph, { edgePolicy: 'topk-degree', maxOut }).graph, 'hub');
    // Arms 3, 7 and 11 have four edges, arm 10 three.
    expect(kept(3)).toEqual(['big arm 03', 'one arm 11']);
    expect(kept(4)).toEqual(['big arm 03', 'small arm 10', 'one arm 11']);
    expect(kept(5)).toEqual(['big arm 03', 'big arm 07', 'small arm 10', 'one arm 11']);
  });

  test('reads no dialogue', () => {
    const closed = {
      loadDialogues: () => {
        throw new Error('read');
      },
    };
    expect(() => walkGraph(hubGraph, { edgePolicy: 'topk-degree', maxOut: 3 }, closed)).not.toThrow();
  });

  test('is what its definition says, on any graph', () => {
    const name = fc.nat(14).map((i) => `e${i}`);
    const triple = fc.tuple(
      name,
      fc.nat(3).map((i) => `r${i}`),
      name,
    );
    checkProperty(
      fc.property(
        fc.array(triple, { minLength: 1, maxLength: 120 }),
        fc.integer({ min: 2, max: 8 }),
        (triples, maxOut) => {
          const whole = graphOf('random', triples);
          const { graph } = walkGraph(whole, { edgePolicy: 'topk-degree', maxOut });
          for (const [entity, head] of whole.entityNames.entries()) {
            // Round after round, the best edge left of each relation; the round that does not fit loses its poorest.
            const left = Array.from({ length: whole.degree(entity) }, (_, i) => whole.offsets[entity]! + i);
            const degree = (edge: number) => whole.degree(whole.tails[edge]!);
            const kept: number[] = [];
            while (kept.length < maxOut - 1 && left.length > 0) {
              const round = [...new Set(left.map((edge) => whole.relations[edge]!))].map((relation) =>
                left
                  .filter((edge) => whole.relations[edge] === relation)
                  .reduce((a, b) => (degree(b) > degree(a) ? b : a)),
              );
              round.sort((a, b) => degree(b) - degree(a) || a - b);
              for (const edge of round.slice(0, maxOut - 1 - kept.length))
                kept.push(...left.splice(left.indexOf(edge), 1));
            }
            const named = kept.sort((a, b) => a - b).map((edge) => edgesOf(whole, head)[edge - whole.offsets[entity]!]);
            expect(edgesOf(graph, head)).toEqual(named);
          }
        },
      ),
      { numRuns: 60 },
    );
  });
});

describe('ark', () => {
  const at = (maxOut: number) => walkGraph(hubGraph, { edgePolicy: 'ark', maxOut }, hubDataset);

  test('takes what dialogues walk before the order of the graph, and loses one of the first maxOut', () => {
    const front = ['small arm 10', 'one arm 11', 'small arm 09'];
    const rest = edgesOf(hubGraph, 'hub').filter((edge) => !front.includes(edge));
    const lost = new Set<number>();
    for (const maxOut of [4, 5, 6, 7, 8, 9]) {
      const first = [...front, ...rest].slice(0, maxOut);
      const kept = edgesOf(at(maxOut).graph, 'hub');
      expect(kept).toHaveLength(maxOut - 1);
      expect(first).toEqual(expect.arrayContaining(kept));
      lost.add(first.findIndex((edge) => !kept.includes(edge)) / (maxOut - 1));
    }
    // Not always the last one.
    expect(Math.min(...lost)).toBeLessThan(1);
  });

  test('asks for the dialogues', () => {
    expect(() => walkGraph(hubGraph, { edgePolicy: 'ark', maxOut: 5 })).toThrow(
      /expected a data set with edgePolicy ark/,
    );
  });
});
