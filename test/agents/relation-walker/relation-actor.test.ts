import { describe, expect, test } from '@jest/globals';
import { relationWalkerAgent } from '../../../agents/relation-walker/relation-walker-agent.js';
import { relationActor, relationReader } from '../../../agents/relation-walker/network.js';
import { actionLogProbs } from '../../../agents/actor.js';
import type { TraceEvent } from '../../../agents/question-agent.js';
import { defaultRelationRules, frontierTrie, makeVectorEnv } from '../../../envs/index.js';
import { Rng } from '../../../src/run/seeds.js';
import { HostAdamW } from '../../../src/tensor/host/host-adamw.js';
import { actionDraw, collectRollouts, RolloutBuffer, wholeWalks } from '../../../trainers/rollout.js';
import { ppo } from '../../../trainers/ppo.js';
import { ppoSettings } from '../../../trainers/ppo-settings.js';
import { scriptedClient } from '../../fixtures/scripted-client.js';
import { questionOf } from '../../fixtures/toy-questions.js';
import { shake, toyRelationWalker } from '../../fixtures/toy-relation-walker.js';

const toy = await toyRelationWalker();
const { graph, samples } = toy;
const stop = graph.numRelations;

const session = (events: TraceEvent[] = []) => ({
  client: scriptedClient(() => undefined),
  trace: (event: TraceEvent) => void events.push(event),
});

describe('the relation walker as an actor', () => {
  test('gives log-probabilities of the legal actions alone, equal to those it is trained on', async () => {
    const network = toy.networkOf(2);
    await shake(network);
    const actor = relationActor(network);
    const mask = Uint8Array.from({ length: stop + 1 }, (_, action) => Number(action === 1 || action > 3));
    const requests = samples.map(({ task }, i) => ({ task, relations: Int32Array.from(i % 2 ? [2] : []), mask }));
    const { logProbs, offsets } = await actionLogProbs(actor, requests);
    const legal = stop - 2;
    expect(offsets).toEqual(Int32Array.from({ length: samples.length + 1 }, (_, i) => i * legal));
    for (let i = 0; i < samples.length; i++) {
      const sum = logProbs.subarray(offsets[i]!, offsets[i + 1]!).reduce((s, x) => s + Math.exp(x), 0);
      expect(sum).toBeCloseTo(1, 5);
    }
    const scored = actor.score(requests);
    expect(scored.offsets).toEqual(offsets);
    const scores = await actor.parameters.read(() => scored.logits());
    const difference = (a: number, b: number) => scores[scored.masked!.legal[a]!]! - scores[scored.masked!.legal[b]!]!;
    for (let i = 0; i + 1 < legal; i++) expect(logProbs[i]! - logProbs[i + 1]!).toBeCloseTo(difference(i, i + 1), 4);
    expect([0, 1, 2].map((index) => actor.envAction!(requests[0]!, index))).toEqual([1, 4, 5]);
    expect(actor.numScores(requests[0]!)).toBe(stop + 1);
    actor.dispose();
  });

  test('learns from answers alone what to walk, by the PPO of the main job', async () => {
    const network = toy.networkOf(1);
    const actor = relationActor(network);
    const explorations = 8;
    const envs = makeVectorEnv('kgwalk/RelationWalk-v1', { graph, samples }, samples.length * explorations);
    const learning = ppoSettings.parse({
      init: 'scratch',
      updates: 30,
      samplesPerUpdate: samples.length,
      explorations,
      minibatchSamples: samples.length,
      learningRate: 0.02,
      warmupUpdates: 0,
      klCoef: 0,
      feasibilityCoef: 0.1,
      entropyCoef: 0.01,
    });
    const rewards: number[] = [];
    await ppo({
      actor,
      optimizer: new HostAdamW(network.parameters, { maxGradNorm: 0.5 }),
      collect: wholeWalks(envs, Int32Array.from(samples.keys())),
      settings: learning,
      seed: 6,
      onUpdate: ({ metrics }) => {
        rewards.push(metrics['rollout/reward']!);
        expect(metrics['train/first_ratio_deviation']).toBeLessThan(1e-6);
      },
    });
    expect(rewards[0]).toBeLessThan(0.7);
    expect(rewards.at(-1)).toBeGreaterThan(0.95);

    const agent = relationWalkerAgent({
      name: 'walker',
      graph,
      frontiers: frontierTrie(graph),
      rules: defaultRelationRules,
      reader: relationReader(network),
    });
    await agent.prepare!(samples.map(({ task }) => task));
    for (const { task, gold } of samples) {
      const answer = await agent.answer(task, session());
      expect(new Set(answer.entities)).toEqual(new Set(gold.answers.map(({ entity }) => entity)));
    }
    actor.dispose();
  });

  test('collects the same walks from equal seeds', async () => {
    const actor = relationActor(toy.network);
    const collect = async () => {
      const envs = makeVectorEnv('kgwalk/RelationWalk-v1', { graph, samples }, 16);
      const buffer = new RolloutBuffer<ReturnType<typeof actor.requestOf>>(48);
      const figures = await collectRollouts(
        actor,
        undefined,
        envs,
        buffer,
        [0, 2, 4, 6],
        4,
        actionDraw(Rng.named(4, 'walk')),
      );
      return [figures, [...buffer.rollout.rewards]];
    };
    expect(await collect()).toEqual(await collect());
  });
});

describe('the relation walker as an agent', () => {
  const agentOf = (beamWidth = 1) =>
    relationWalkerAgent({
      name: 'walker',
      graph,
      frontiers: frontierTrie(graph),
      rules: defaultRelationRules,
      reader: relationReader(toy.network),
      beamWidth,
    });

  test('answers with the whole frontier, the relations, the facts and how sure it is', async () => {
    const events: TraceEvent[] = [];
    const answer = await agentOf(1000).answer(samples[2]!.task, session(events));
    expect(answer.confidence).toBeGreaterThan(0);
    expect(answer.confidence).toBeLessThanOrEqual(1);
    expect(answer).toMatchObject({ literals: [], degraded: false, cost: { encodes: 1 } });
    const names = new Set(answer.evidence.flatMap(([head, , tail]) => [head, tail]));
    for (const entity of answer.entities) expect(names).toContain(graph.entityNames[entity]);
    for (const [head, relation, tail] of answer.evidence) {
      expect(relation.startsWith('~')).toBe(false);
      const triple = [graph.entityId(head), graph.relationId(relation), graph.entityId(tail)] as const;
      expect(graph.edgeIndex(...triple)).toBeGreaterThanOrEqual(0);
    }
    expect(events[0]).toEqual({ event: 'start', entities: [graph.entityId('tenet')] });
    expect(events.at(-1)).toMatchObject({ event: 'stop' });
  });

  test('answers alike alone and prepared, independently of earlier questions', async () => {
    const alone = await Promise.all(samples.map(async ({ task }) => agentOf().answer(task, session())));
    const agent = agentOf();
    await agent.prepare!(samples.map(({ task }) => task));
    const prepared = [];
    for (const { task } of [...samples].reverse()) prepared.unshift(await agent.answer(task, session()));
    expect(prepared).toEqual(alone);
  });

  test('gives nothing for a topic that the graph lacks and for questions of another form', async () => {
    const lost = questionOf(graph, 'x', 'who directed [atlantis]', ['directed_by'], []);
    expect(await agentOf().answer(lost.task, session())).toMatchObject({ entities: [], stop: 'no topic' });
    const truth = { ...samples[0]!.task, form: 'truth' as const };
    expect(await agentOf().answer(truth, session())).toMatchObject({ entities: [], stop: 'form' });
  });
});
