/** LLM-ARK's bugs in its lists of edges, by their ids in the catalogue: what each would break here. */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { walkCollector } from '../../agents/top-paths.js';
import { beamSearch } from '../../agents/dialogue-walker/agent.js';
import { actionLogProbs } from '../../trainers/actor.js';
import { type Policy, walkerActor } from '../../agents/dialogue-walker/policy.js';
import type { StateBatch } from '../../agents/dialogue-walker/heads/head.js';
import { walkSamples } from '../../datasets/walk-sample.js';
import { DialogueWalkEnv, dialogueWalkWorld, makeEnv, VectorEnv } from '../../envs/index.js';
import { walkGraph } from '../../envs/dialogue-walk/walk-graph.js';
import { leakWarning } from '../../agents/dialogue-walker/training-data.js';
import { pathKey } from '../../src/kg/graph.js';
import { collectProvenance, ProvenanceNotes, unpackIds } from '../../src/run/provenance.js';
import { subSeed } from '../../src/run/seeds.js';
import { goldStates } from '../../agents/dialogue-walker/demonstrations.js';
import { greedyWalks } from '../../trainers/greedy-walks.js';
import { edgesOf, hubDataset, hubGraph } from '../fixtures/hub-dialogues.js';
import { reachableStates, toyFeaturizer } from '../fixtures/toy-walker.js';
import { graphOf, sampleOf } from '../fixtures/toy-walks.js';

/** Logits that hang on the action alone, and look like noise. */
const noise = {
  infer: async ({ relations, tails }: StateBatch) =>
    Float32Array.from(tails, (tail, i) => subSeed(0, 'logit', relations[i]!, tail) / 2 ** 30),
} as Policy['head'];

describe('B-ARK-6: what dialogues of valid and test put into the lists', () => {
  test('is marked edge by edge, counted, warned of, and noted where leaks are looked for', () => {
    const notes = new ProvenanceNotes();
    const walks = collectProvenance(notes, () => walkGraph(hubGraph, { edgePolicy: 'ark', maxOut: 12 }, hubDataset));
    // Eleven of twelve edges: the graph's own order has room for twelve slots, so no edge came in through a dialogue.
    expect(walks.selection!.brought).toEqual({ train: 0, valid: 0, test: 0 });
    const short = walkGraph(hubGraph, { edgePolicy: 'ark', maxOut: 8 }, hubDataset);
    const kept = edgesOf(short.graph, 'hub');
    const begin = short.graph.offsets[short.graph.entityId('hub')]!;
    const bitsOf = (edge: string) => (kept.includes(edge) ? short.broughtBy![begin + kept.indexOf(edge)] : undefined);
    const expected = { 'small arm 10': 1, 'one arm 11': 6, 'small arm 09': 4 };
    const marked = Object.entries(expected).filter(([edge]) => kept.includes(edge));
    // At most one of the three is the one that is lost.
    expect(marked.length).toBeGreaterThanOrEqual(2);
    for (const [edge, bits] of marked) expect(bitsOf(edge)).toBe(bits);
    expect([...short.broughtBy!].filter((bits) => bits > 0)).toHaveLength(marked.length);
    const bySplit = (bit: number) => marked.filter(([, bits]) => bits & bit).length;
    expect(short.selection!.brought).toEqual({ train: bySplit(1), valid: bySplit(2), test: bySplit(4) });
    expect(leakWarning(short)).toMatch(
      /^warning: edgePolicy=ark leaks: [01] edges .* of valid .* [12] because those of test/,
    );
    const { artifacts, sets } = notes.record();
    expect(artifacts).toHaveLength(1);
    const [{ kind, samples }] = artifacts as [(typeof artifacts)[number]];
    expect(kind).toBe('edge list');
    const { ids, count } = sets[samples!]!;
    expect(unpackIds(ids, count, 'here').sort()).toEqual(
      ['test-1#1', 'test-1#2', 'test-1#3', 'train-1#1', 'train-1#2', 'valid-1#1'].sort(),
    );
  });

  test('is nothing with the other policies, which know no dialogue', () => {
    const other = { loadDialogues: () => [] };
    for (const edgePolicy of ['full', 'topk-degree'] as const) {
      const notes = new ProvenanceNotes();
      const walks = collectProvenance(notes, () => walkGraph(hubGraph, { edgePolicy, maxOut: 4 }, hubDataset));
      expect(walks.graph.hash).toBe(walkGraph(hubGraph, { edgePolicy, maxOut: 4 }, other).graph.hash);
      expect(leakWarning(walks)).toBeUndefined();
      expect(notes.record().artifacts).toEqual([]);
    }
  });
});

describe.each(['full', 'topk-degree', 'ark'] as const)('edgePolicy %s', (edgePolicy) => {
  const rules = { horizon: 2, equalAtStep1: false };
  const { graph } = walkGraph(hubGraph, { edgePolicy, maxOut: 5 }, hubDataset);
  const samples = [
    ...walkSamples(hubDataset.loadDialogues('train'), hubGraph),
    ...hubGraph.entityNames.map((name) => sampleOf(hubGraph, name, 'a message', name, [[name, 'back', 'hub']])),
  ];

  test('B-ARK-7: steps, batches of training, beams, greedy walks and gold walks know the same actions', async () => {
    const featurizer = await toyFeaturizer({ graph, samples }, { rules, edgeFeatures: false });
    const policy = { head: noise, featurizer };
    const env = makeEnv('kgwalk/OpenDialKG-v1', { graph, samples, rules });
    const walked = new Set<string>();
    const requests = reachableStates({ graph, samples }, rules);
    const { offsets } = await actionLogProbs(walkerActor(policy), requests);
    const { relations, tails } = featurizer.batch(requests);
    requests.forEach(({ task, state }, s) => {
      let { observation } = env.reset({ options: { sample: samples.findIndex((sample) => sample.task === task) } });
      for (const [, relation, tail] of state.path) {
        const action = [...observation.tails.keys()].find(
          (i) => observation.tails[i] === tail && observation.relations[i] === relation,
        );
        ({ observation } = env.step(action!));
      }
      const stay = observation.actionMask.length > observation.tails.length;
      const shown = Array.from(observation.tails, (tail, i) => `${observation.relations[i]} ${tail}`);
      if (stay) shown.push(`${graph.equalRelation} ${state.current}`);
      expect(observation.actionMask).toEqual(new Uint8Array(shown.length).fill(1));
      const [begin, end] = [offsets[s]!, offsets[s + 1]!];
      expect(Array.from(tails.subarray(begin, end), (tail, i) => `${relations[begin + i]} ${tail}`)).toEqual(shown);
      for (const one of shown) walked.add(`${state.current} ${one}`);
      if (edgePolicy !== 'full') expect(shown.length).toBeLessThanOrEqual(5);
    });

    const collector = walkCollector(graph, { beamWidth: 2000 });
    const tasks = samples.map(({ task }) => task);
    const ranked = await beamSearch(policy, tasks, 2000, collector);
    const stepsOf = (path: readonly (readonly number[])[]) => path.map(([head, r, tail]) => `${head} ${r} ${tail}`);
    const beamed = new Set(ranked.flatMap(({ paths }) => paths.flatMap(({ path }) => stepsOf(path))));
    const edges = [...walked].filter((step) => !step.includes(` ${graph.equalRelation} `));
    expect([...beamed].sort()).toEqual(edges.sort());

    const world = dialogueWalkWorld({ graph, samples, rules });
    const envs = new VectorEnv(samples.map(() => new DialogueWalkEnv(world)));
    const walkable = Int32Array.from(samples.keys()).filter((i) => graph.degree(samples[i]!.task.start) > 0);
    const greedy = await greedyWalks(walkerActor(policy), envs, walkable);
    for (const { observation } of greedy) for (const step of stepsOf(observation.path)) expect(walked).toContain(step);

    for (const sample of samples) {
      const states = goldStates(sample, graph, rules);
      expect(states.length > 0).toBe(graph.holds(sample.gold.path));
      for (const { state, gold } of states) {
        const s = requests.findIndex(
          (one) => one.task === sample.task && pathKey(one.state.path) === pathKey(state.path),
        );
        expect(gold).toBeLessThan(offsets[s + 1]! - offsets[s]!);
      }
    }
  });

  test('B-ARK-3: nothing but kept edges and a legal stay has any probability', async () => {
    const triple = fc.tuple(fc.nat(9), fc.nat(2), fc.nat(9));
    await fc.assert(
      fc.asyncProperty(
        fc.array(triple, { minLength: 1, maxLength: 90 }),
        fc.integer({ min: 2, max: 6 }),
        async (triples, maxOut) => {
          const whole = graphOf(
            'random',
            triples.map(([h, r, t]) => [`e${h}`, `r${r}`, `e${t}`]),
          );
          const talk = { loadDialogues: () => hubDataset.loadDialogues('train') };
          const cut = walkGraph(whole, { edgePolicy, maxOut }, talk).graph;
          const asked = whole.entityNames.map((name) => sampleOf(whole, name, 'a message', name, [[name, 'r0', name]]));
          const featurizer = await toyFeaturizer({ graph: cut, samples: asked }, { rules, edgeFeatures: false });
          const requests = reachableStates({ graph: cut, samples: asked }, rules);
          if (requests.length === 0) return;
          const { logProbs, offsets } = await actionLogProbs(walkerActor({ head: noise, featurizer }), requests);
          const { relations, tails } = featurizer.batch(requests);
          requests.forEach(({ state }, s) => {
            const [begin, end] = [offsets[s]!, offsets[s + 1]!];
            for (let i = begin; i < end; i++) {
              const stays = relations[i] === whole.equalRelation;
              expect(
                stays
                  ? state.hop > 0 && tails[i] === state.current
                  : whole.edgeIndex(state.current, relations[i]!, tails[i]!) >= 0,
              ).toBe(true);
            }
            const mass = logProbs.subarray(begin, end).reduce((sum, logProb) => sum + Math.exp(logProb), 0);
            expect(mass).toBeCloseTo(1, 5);
          });
        },
      ),
      { numRuns: 25 },
    );
  });
});
