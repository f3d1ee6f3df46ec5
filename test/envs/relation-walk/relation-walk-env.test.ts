import { describe, expect, test } from '@jest/globals';
import { checkEnv, frontierTrie, makeEnv, type RelationWalkObservation } from '../../../envs/index.js';
import { relationWalkSettings } from '../../../envs/settings.js';
import { executeChain, frontierRelations } from '../../../src/kg/frontier.js';
import { unknownId } from '../../../src/kg/graph.js';
import { Rng } from '../../../src/run/seeds.js';
import { filmGraph, filmQuestions, questionOf } from '../../fixtures/toy-questions.js';

const graph = filmGraph();
const samples = filmQuestions(graph);
const id = 'kgwalk/RelationWalk-v1';
const stop = graph.numRelations;
const relation = (name: string) => (name === 'stop' ? stop : graph.relationId(name));
const legalNames = ({ actionMask }: RelationWalkObservation) =>
  [...actionMask.keys()].filter((a) => actionMask[a]).map((a) => graph.relationNames[a] ?? 'stop');

/** Walks named relations and returns the last result. */
function walk(env: ReturnType<typeof makeEnv<typeof id>>, sample: number, names: readonly string[]) {
  env.reset({ options: { sample } });
  return names.map((name) => env.step(relation(name))).at(-1)!;
}

describe('kgwalk/RelationWalk-v1', () => {
  test('keeps the promises of an environment', () => {
    checkEnv(makeEnv(id, { graph, samples }), { refusals: true, episodes: 8 });
    checkEnv(makeEnv(id, { graph, samples, rules: { horizon: 3, hops: 'given' }, reward: 'hit' }), {
      refusals: true,
      seed: 5,
    });
    checkEnv(makeEnv(id, { graph, samples, frontiers: frontierTrie(graph, 0) }), { refusals: true, seed: 9 });
  });

  test('pays the F1 of the last frontier, at the end alone', () => {
    const env = makeEnv(id, { graph, samples });
    expect(walk(env, 2, ['directed_by'])).toMatchObject({ reward: 0, terminated: false });
    expect(walk(env, 2, ['directed_by', '~directed_by', 'stop'])).toMatchObject({
      reward: 1,
      terminated: true,
      truncated: false,
      info: { sample: 2, done: true, f1: 1, exact: 1, hit: true },
    });
    // By star: dunkirk and juno, of which dunkirk is right; two answers, one found among two.
    const byStar = questionOf(
      graph,
      'x',
      'other films with a star of [inception]',
      ['starring', '~starring'],
      ['dunkirk', 'juno', 'lost film'],
    );
    const other = makeEnv(id, { graph, samples: [byStar] });
    expect(walk(other, 0, ['starring', '~starring', 'stop']).reward).toBeCloseTo((2 * 2) / (2 + 3), 12);
    expect(walk(env, 0, ['starring', 'stop']).reward).toBe(0);
  });

  test('pays for the exact set or for the first entity when asked to', () => {
    // The frontier is dunkirk and juno, by one path each, so dunkirk comes first: its id is smaller.
    const both = questionOf(graph, 'x', 'films of people in [inception]', ['starring', '~starring'], ['juno']);
    const reward = (kind: 'exact' | 'hit', names: string[]) =>
      walk(makeEnv(id, { graph, samples: [both, ...samples], reward: kind }), 0, names).reward;
    expect(reward('exact', ['starring', '~starring', 'stop'])).toBe(0);
    expect(graph.entityId('dunkirk')).toBeLessThan(graph.entityId('juno'));
    expect(reward('hit', ['starring', '~starring', 'stop'])).toBe(0);
    expect(walk(makeEnv(id, { graph, samples, reward: 'exact' }), 4, ['~starring', 'year', 'stop']).reward).toBe(1);
  });

  test('the topic leaves every frontier, not only the last', () => {
    const env = makeEnv(id, { graph, samples });
    expect(walk(env, 6, ['directed_by', '~directed_by', 'year']).reward).toBe(1);
    const { observation } = walk(env, 6, ['directed_by', '~directed_by']);
    expect([...observation.entities].map((entity) => graph.entityNames[entity])).toEqual(['inception', 'dunkirk']);
    expect([...observation.counts]).toEqual([1, 1]);
  });

  test('lets the topic come back where the data set says so', () => {
    const { task, gold } = samples[2]!;
    const env = makeEnv(id, { graph, samples: [{ task: { ...task, topicsReturn: true }, gold }, samples[2]!] });
    const { observation, reward } = walk(env, 0, ['directed_by', '~directed_by', 'stop']);
    expect([...observation.entities].map((entity) => graph.entityNames[entity])).toEqual([
      'inception',
      'tenet',
      'dunkirk',
    ]);
    expect(reward).toBeCloseTo(4 / 5, 12);
    // The same topic under the other rule is another tree.
    expect(walk(env, 1, ['directed_by', '~directed_by', 'stop']).reward).toBe(1);
  });

  test('allows what leads somewhere else, and STOP from the second step on', () => {
    const env = makeEnv(id, { graph, samples });
    const { observation } = env.reset({ options: { sample: 1 } });
    expect(legalNames(observation)).toEqual(['directed_by', 'starring', 'year']);
    // Reitman made nothing but the topic.
    expect(legalNames(walk(env, 1, ['directed_by']).observation)).toEqual(['stop']);
    expect(() => env.step(relation('~directed_by'))).toThrow(/got action \d/);
    env.reset({ options: { sample: 1 } });
    expect(() => env.step(stop)).toThrow(/STOP behind the first/);
  });

  test('walks exactly as many relations as the task says when the hops are given', () => {
    const env = makeEnv(id, { graph, samples, rules: { horizon: 3, hops: 'given' } });
    expect(walk(env, 0, ['directed_by'])).toMatchObject({ reward: 1, terminated: true });
    expect(legalNames(walk(env, 2, ['directed_by']).observation)).toEqual(['~directed_by']);
    expect(walk(env, 2, ['directed_by', '~directed_by'])).toMatchObject({ reward: 1, terminated: true });
    const stuck = questionOf(graph, 'x', 'who directed [juno]', ['directed_by', '~directed_by'], ['reitman']);
    const dead = makeEnv(id, { graph, samples: [stuck], rules: { horizon: 3, hops: 'given' } });
    expect(legalNames(walk(dead, 0, ['directed_by']).observation)).toEqual(['stop']);
  });

  test('shows the task and never the gold', () => {
    const { observation, info } = makeEnv(id, { graph, samples }).reset({ options: { sample: 0 } });
    expect(observation.task).toBe(samples[0]!.task);
    expect(JSON.stringify({ observation, info })).not.toContain('gold');
    expect(observation).toMatchObject({
      step: 0,
      relations: new Int32Array(0),
      topics: Int32Array.of(graph.entityId('tenet')),
    });
  });

  test('renders where a walk stands', () => {
    const env = makeEnv(id, { graph, samples });
    walk(env, 2, ['directed_by', '~directed_by']);
    expect(env.render()).toBe(
      'Question: films by the director of tenet\nTopics: tenet\nWalked: directed_by, ~directed_by\nFrontier: 2 entities: inception, dunkirk\nStep: 3',
    );
  });

  test('draws walkable questions only, but gives any that is asked for', () => {
    const lost = questionOf(graph, 'x', 'who directed [atlantis]', ['directed_by'], ['nolan']);
    const nameless = { ...lost, task: { ...lost.task, topics: [] } };
    const truth = { ...samples[0]!, task: { ...samples[0]!.task, form: 'truth' as const } };
    const env = makeEnv(id, { graph, samples: [lost, nameless, truth, samples[0]!] });
    for (let seed = 0; seed < 20; seed++) expect(env.reset({ seed }).info).toEqual({ sample: 3, done: false });
    for (const sample of [0, 1]) {
      const { observation, info } = env.reset({ options: { sample } });
      expect(info).toEqual({ sample, done: true });
      expect(observation.actionMask).toEqual(new Uint8Array(stop + 1));
      expect(() => env.step(0)).toThrow('expected a running episode');
    }
    expect(lost.task.topics[0]!.entity).toBe(unknownId);
    expect(() => makeEnv(id, { graph, samples: [lost, truth] })).toThrow('expected a question whose topic has edges');
    expect(() => env.reset({ options: { sample: 4 } })).toThrow(/expected a sample in \[0, 4\)/);
  });

  test('rewards and masks do not depend on the cache', () => {
    const play = (maxBytes: number) => {
      const env = makeEnv(id, { graph, samples, frontiers: frontierTrie(graph, maxBytes) });
      const rng = Rng.named(3, 'play');
      return Array.from({ length: 200 }, () => {
        let { observation } = env.reset({ options: { sample: rng.integer(samples.length) } });
        const record: unknown[] = [];
        for (;;) {
          const result = env.step(env.actionSpace.sample(rng, observation.actionMask));
          record.push(result.reward, [...result.observation.actionMask], [...result.observation.entities]);
          if (result.terminated) return record;
          observation = result.observation;
        }
      });
    };
    const plain = play(0);
    expect(play(1e6)).toEqual(plain);
    expect(play(3000)).toEqual(plain);
  });

  test('the settings have the defaults of the recipe', () => {
    expect(relationWalkSettings.parse({})).toEqual({ horizon: 3, hops: 'learned', reward: 'f1', memoryMegabytes: 256 });
  });
});

describe('a trie of frontiers', () => {
  const tenet = graph.entityId('tenet');

  test('agrees with executeChain and frontierRelations', () => {
    const trie = frontierTrie(graph);
    for (const { task, gold } of samples) {
      const topics = task.topics.map(({ entity }) => entity);
      let node = trie.root(topics);
      for (const next of gold.chains[0]!) {
        const feasible = [...node.choices().keys()].filter((a) => a < stop && node.choices()[a]);
        expect(Int32Array.from(feasible)).toEqual(frontierRelations(graph, node.frontier, topics));
        node = node.follow(next);
      }
      expect(node.frontier).toEqual(executeChain(graph, topics, gold.chains[0]!));
    }
  });

  test('remembers prefixes, and forgets the topics asked for longest ago', () => {
    const trie = frontierTrie(graph, 2500);
    const first = trie.root([tenet]);
    expect(first.follow(0)).toBe(first.follow(0));
    expect(trie.root([tenet])).toBe(first);
    for (let entity = 0; entity < graph.numEntities; entity++) {
      trie.root([entity]).follow(0);
      expect(trie.bytes).toBeLessThanOrEqual(2500);
    }
    expect(trie.root([tenet])).not.toBe(first);
    // Episodes that have not ended continue.
    expect(first.follow(0).frontier).toEqual(trie.root([tenet]).follow(0).frontier);
  });

  test('caches nothing when caching is off', () => {
    const trie = frontierTrie(graph, 0);
    expect(trie.root([tenet]).follow(0)).not.toBe(trie.root([tenet]).follow(0));
    expect(trie.bytes).toBe(0);
  });
});
