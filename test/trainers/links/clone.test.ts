import { beforeAll, describe, expect, test } from '@jest/globals';
import { linkBeams } from '../../../agents/path-walker/beam.js';
import { createLinkWalker } from '../../../agents/path-walker/network.js';
import type { LinkActor, LinkRequest } from '../../../agents/path-walker/request.js';
import { linkWalkerSettings } from '../../../agents/path-walker/settings.js';
import { LinkQueryEnv } from '../../../envs/link-query/link-query-env.js';
import { linkQueryWorld, type LinkQueryOptions } from '../../../envs/link-query/world.js';
import { knownAnswers, withInverses } from '../../../src/embedding/known-answers.js';
import { AdamW } from '../../../src/nn/adamw.js';
import type { Executor } from '../../../src/nn/executor.js';
import { openExecutor } from '../../../src/nn/open-executor.js';
import { type CloneOptions, type CloneStep } from '../../../trainers/clone.js';
import { clone, type CloneCallbacks, type CloneEpoch } from '../../fixtures/run-trainers.js';
import { cloneSettings } from '../../../trainers/clone-settings.js';
import { demonstrationSettings } from '../../../agents/path-walker/settings.js';
import { demonstrationsOf, shownDemonstrations } from '../../../agents/path-walker/demonstrations.js';
import { longTest } from '../../fixtures/long-tests.js';
import { tinyLinkWorld } from '../../fixtures/tiny-links.js';

const { graph, train, valid } = tinyLinkWorld();
const trainKnown = withInverses(knownAnswers([train]), graph.numRelations / 2);
const worldOf = (options: Partial<LinkQueryOptions> = {}) =>
  linkQueryWorld({ graph, queries: train, known: trainKnown, ...options });
const shown = (options: Partial<LinkQueryOptions> = {}, settings = {}, seed = 1) => {
  const world = worldOf(options);
  return { world, demonstrations: demonstrationsOf(world, demonstrationSettings.parse(settings), seed, 'test') };
};

describe('demonstrations', () => {
  test('are legal walks that end at the answer, none of them over the edge that is asked for', () => {
    const { world, demonstrations } = shown();
    const { queries, actions, asked, unreachable } = demonstrations;
    const env = new LinkQueryEnv(world);
    expect([asked, new Set(queries).size + unreachable]).toEqual([train.heads.length, train.heads.length]);
    expect(queries.length).toBeGreaterThan(20);
    queries.forEach((query, walk) => {
      env.reset({ options: { sample: query } });
      const steps = Array.from(actions.subarray(3 * walk, 3 * walk + 3), (action) => env.step(action));
      expect(steps.map(({ reward, terminated }) => [reward, terminated])).toEqual([
        [0, false],
        [0, false],
        [1, true],
      ]);
    });
  });

  test('are as short as a walk can be, and stay once they arrived', () => {
    const { world, demonstrations } = shown({ hideQueryEdge: false });
    const { queries, actions } = demonstrations;
    // The edge itself is there: one step, and two stays at its end.
    expect(queries.length).toBe(train.heads.length);
    queries.forEach((query, walk) => {
      const degree = graph.degree(train.tails[query]!);
      expect([...actions.subarray(3 * walk + 1, 3 * walk + 3)]).toEqual([degree, degree]);
      const edge = graph.offsets[train.heads[query]!]! + actions[3 * walk]!;
      expect([graph.relations[edge], graph.tails[edge]]).toEqual([train.relations[query], train.tails[query]]);
    });
    expect(world.horizon).toBe(3);
  });

  test('leave out what the horizon does not reach, and say how many queries that are', () => {
    const { demonstrations } = shown({ horizon: 1 });
    expect(demonstrations).toMatchObject({ asked: train.heads.length, unreachable: train.heads.length });
    expect(demonstrations.queries).toHaveLength(0);
  });

  test('of an answer that is the head stay there', () => {
    const one = Int32Array.of(3);
    const { demonstrations } = shown({ queries: { heads: one, relations: Int32Array.of(0), tails: one } });
    expect([...demonstrations.actions]).toEqual(Array.from({ length: 3 }, () => graph.degree(3)));
  });

  test('are fewer where fewer are wanted, drawn by the seed', () => {
    const counts = (settings: object, seed = 1) => shown({}, settings, seed).demonstrations;
    expect(counts({ queries: 7 }).asked).toBe(7);
    expect(new Set(counts({ queries: 7, paths: 1 }).queries).size).toBe(
      counts({ queries: 7, paths: 1 }).queries.length,
    );
    expect(counts({ queries: 7 }, 5)).toEqual(counts({ queries: 7 }, 5));
    expect(counts({ queries: 7 }, 5).queries).not.toEqual(counts({ queries: 7 }, 6).queries);
    expect(counts({ paths: 1 }, 5).actions).not.toEqual(counts({ paths: 1 }, 6).actions);
  });
});

describe('cloning of demonstrations', () => {
  let executor: Executor;
  beforeAll(async () => ({ executor } = await openExecutor('simd')));
  const settings = cloneSettings.parse({ epochs: 3, batchSize: 8, warmupSteps: 2, learningRate: 0.02 });

  const walksOf = ({ world, demonstrations }: ReturnType<typeof shown>, actor: LinkActor) =>
    shownDemonstrations(world, demonstrations, actor, settings.batchSize);

  type Options = Omit<CloneOptions<LinkRequest>, 'train' | 'valid'> &
    CloneCallbacks &
    typeof data & { actor: LinkActor };
  const cloned = ({ train, valid, ...options }: Options) =>
    clone({ ...options, train: walksOf(train, options.actor), valid: walksOf(valid, options.actor) });

  function learner() {
    const network = linkWalkerSettings.parse({ vectorDim: 8, pathDim: 8, width: 16 });
    const { numEntities, numRelations } = graph;
    const actor = createLinkWalker(executor, network, { lists: graph, numEntities, numRelations }, 1);
    const optimizer = new AdamW(actor.parameters as never, { maxGradNorm: 1 });
    return { actor, optimizer };
  }

  const data = { train: shown(), valid: shown({ queries: valid, known: undefined }), seed: 1, settings };

  longTest('learns the way to citizenship: the beam leads there first', async () => {
    const one = learner();
    const epochs: CloneEpoch[] = [];
    const onEpoch = (epoch: CloneEpoch) => void epochs.push(epoch);
    await cloned({ ...data, ...one, settings: { ...settings, epochs: 30 }, onEpoch });
    expect(epochs.at(-1)!.validLoss).toBeLessThan(0.5 * epochs[0]!.validLoss);
    const queries = Array.from(valid.heads, (head, i) => ({ head, relation: valid.relations[i]! }));
    const reached = await linkBeams(one.actor, graph, queries, { beamWidth: 16, horizon: 3 });
    expect(reached.map(({ entities, best, order }) => entities[order(best, 1)[0]!])).toEqual([...valid.tails]);
  });

  test('pushes up what was done: the loss of a step falls by that step', async () => {
    const one = learner();
    const steps: CloneStep[] = [];
    const whole = { ...settings, epochs: 2, batchSize: 1000, warmupSteps: 0, learningRate: 1e-3 };
    await cloned({ ...data, ...one, settings: whole, onStep: (step) => void steps.push(step) });
    expect(steps).toHaveLength(2);
    expect(steps[1]!.loss).toBeLessThan(steps[0]!.loss);
  });

  test('takes the same step whether its states go through the network at once or in parts', async () => {
    const one = { ...settings, epochs: 1, batchSize: 1000, warmupSteps: 0 };
    const figures = await Promise.all(
      [undefined, 40].map(async (maxScoresPerBatch) => {
        const { actor, optimizer } = learner();
        const steps: CloneStep[] = [];
        const onStep = (step: CloneStep) => void steps.push(step);
        await cloned({
          ...data,
          actor: { ...actor, maxScoresPerBatch },
          optimizer,
          settings: one,
          onStep,
        });
        return steps[0]!;
      }),
    );
    expect(figures[1]!.loss).toBeCloseTo(figures[0]!.loss, 5);
    expect(figures[1]!.gradNorm).toBeCloseTo(figures[0]!.gradNorm, 5);
  });

  test('shows states as the environment masks them, and the gold among what is legal', () => {
    const { actor } = learner();
    const { world, demonstrations } = data.train;
    const replay = shownDemonstrations(world, demonstrations, actor, 8);
    const indices = Int32Array.from(demonstrations.queries.keys());
    const { requests, golds } = replay.states(indices);
    expect(requests).toHaveLength(3 * indices.length);
    expect(requests.some(({ legal }) => legal !== undefined)).toBe(true);
    requests.forEach(({ legal, hop }, state) => {
      const walk = state % indices.length;
      const gold = golds[state]!.gold;
      expect(legal?.[gold] ?? gold).toBe(demonstrations.actions[3 * walk + hop]);
    });
  });
});
