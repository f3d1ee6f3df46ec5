import { describe, expect, test } from '@jest/globals';
import { checkEnv, edgeWalkSample, legalActions, makeEnv } from '../../../envs/index.js';
import { initialState, numActions } from '../../../envs/dialogue-walk/rules.js';
import { unknownId } from '../../../src/kg/graph.js';
import { filmGraph, filmQuestions, questionOf } from '../../fixtures/toy-questions.js';
import { toyTwoHop } from '../../fixtures/toy-walks.js';

const graph = filmGraph();
const samples = filmQuestions(graph);
const id = 'kgwalk/QuestionEdgeWalk-v1';
const entity = (name: string) => graph.entityId(name);

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

describe('kgwalk/QuestionEdgeWalk-v1', () => {
  test('keeps the promises of an environment', () => {
    checkEnv(makeEnv(id, { graph, samples }), { episodes: 8 });
    checkEnv(makeEnv(id, { graph, samples, keepName: true, reward: { kind: 'target', hit: 1, miss: -1 } }), {
      seed: 4,
    });
  });

  test('pays for any right answer at the end', () => {
    const env = makeEnv(id, { graph, samples });
    const byNolan = ['directed_by nolan', '~directed_by dunkirk'];
    expect(walk(env, 2, byNolan)).toMatchObject({ reward: 0, terminated: false });
    expect(walk(env, 2, [...byNolan, 'stay'])).toMatchObject({ reward: 1, terminated: true, info: { hit: true } });
    expect(walk(env, 2, ['directed_by nolan', '~directed_by inception', 'stay']).reward).toBe(1);
    expect(walk(env, 2, ['directed_by nolan', 'stay']).reward).toBe(0);
    expect(walk(env, 6, [...byNolan, 'year 2017']).reward).toBe(1);
  });

  test('never goes back to the topic', () => {
    const env = makeEnv(id, { graph, samples });
    const { observation } = walk(env, 2, ['directed_by nolan']);
    const named = Array.from(observation.tails, (tail) => graph.entityNames[tail]);
    expect(named).toEqual(['inception', 'tenet', 'dunkirk']);
    expect([...observation.actionMask]).toEqual([1, 0, 1, 1]);
    expect(() => env.step(1)).toThrow(/that does not lead to the start, got action 1/);
    expect(walk(env, 1, ['directed_by reitman']).observation.actionMask).toEqual(Uint8Array.of(0, 1));
  });

  test('goes back to the topic where the data set says so', () => {
    const returning = samples.map(({ task, gold }) => ({ task: { ...task, topicsReturn: true }, gold }));
    const { observation } = walk(makeEnv(id, { graph, samples: returning }), 2, ['directed_by nolan']);
    expect([...observation.actionMask]).toEqual([1, 1, 1, 1]);
  });

  test('is a dialogue of one message with [E] for the topic', () => {
    const { task, gold } = edgeWalkSample(samples[2]!);
    expect(task).toMatchObject({ id: '2-0', start: entity('tenet'), startName: 'tenet', earlierPaths: [] });
    expect(task.messages).toEqual([{ sender: 'user', text: 'films by the director of [E]' }]);
    expect(edgeWalkSample(samples[2]!, true).task.messages[0]!.text).toBe('films by the director of tenet');
    expect(gold).toMatchObject({ inGraph: true, targets: [entity('inception'), entity('dunkirk')] });
  });

  test('cannot walk what has no topic in the graph or asks for a truth value', () => {
    const lost = questionOf(graph, 'x', 'who directed [atlantis]', ['directed_by'], ['nolan']);
    const truth = { ...samples[0]!, task: { ...samples[0]!.task, form: 'truth' as const } };
    const nameless = { ...lost, task: { ...lost.task, topics: [] } };
    const env = makeEnv(id, { graph, samples: [lost, truth, nameless, samples[0]!] });
    for (let seed = 0; seed < 10; seed++) expect(env.reset({ seed }).info.sample).toBe(3);
    for (const sample of [0, 1, 2]) expect(env.reset({ options: { sample } }).info.done).toBe(true);
    expect(edgeWalkSample(nameless).task).toMatchObject({ start: unknownId, startName: '' });
  });
});

test('a start whose edges all lead to itself cannot be walked without a way back', () => {
  const { graph: films } = toyTwoHop();
  const film = films.entityId('film');
  const rules = { horizon: 2, equalAtStep1: false, noReturn: true };
  const state = initialState(films, film, rules);
  expect(state.done).toBe(false);
  // One of its five edges is a loop.
  expect(numActions(films, state, rules)).toBe(5);
  expect(legalActions(films, state, rules)).toHaveLength(4);
  expect(legalActions(films, state, { ...rules, noReturn: false })).toBeUndefined();
  expect(initialState(films, films.entityId('juno'), rules).done).toBe(true);
});
