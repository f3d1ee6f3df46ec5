/** Bugs of Think-on-Graph’s exploration, by their ids in the catalogue: what each would break here. */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Agent } from '../../agents/agent.js';
import { executed } from '../../agents/prompted/self-veqa/chains.js';
import { questionAgents } from '../../agents/question-agents.js';
import type { WalkTask } from '../../datasets/walk-sample.js';
import { evaluationSettings } from '../../trainers/run-settings.js';
import { executeChain } from '../../src/kg/frontier.js';
import type { Decision, JudgeDecision, MatchDecision, ScoreDecision } from '../../src/llm/decision.js';
import { answerMetrics, matchAnswers } from '../../src/metrics/answers.js';
import { hitAtK, pathRanks, reciprocalRank, targetRanks } from '../../src/metrics/ranks.js';
import { WorkbenchError } from '../../src/run/errors.js';
import {
  type Facts,
  askFiske,
  graphOf,
  resourcesOf,
  taskOf,
  townFacts,
  townReading,
} from '../agents/prompted/clock-town.js';
import { evaluatedDialogues, evaluatedQuestions } from '../fixtures/evaluated.js';
import { finalEntities } from '../fixtures/final-entities.js';
import { scriptedClient } from '../fixtures/scripted-client.js';
import { agentOf, id, options, questionOf } from '../fixtures/toy-harbour.js';
import { graphOf as worldOf, sampleOf } from '../fixtures/toy-walks.js';

describe('Think-on-Graph', () => {
  /** Explores these facts from Tamsin; what scores decides what is kept, and nothing ever suffices. */
  async function explored(
    facts: Facts,
    scoreOf: (name: string) => number,
    { question = 'who built it', ...switches }: { question?: string; [name: string]: unknown } = {},
  ) {
    const graph = graphOf(facts);
    const agent = await questionAgents.create('tog', resourcesOf(graph), switches);
    const client = scriptedClient((decision: Decision) => {
      if (decision.kind === 'score') return { scores: decision.candidates.map(({ text }) => scoreOf(text)) };
      return decision.kind === 'judge' ? { choice: -1, reason: '', answers: [] } : { answers: [] };
    });
    const topics = [{ name: 'Tamsin', entity: graph.entityId('Tamsin') }];
    const answer = await agent.answer(taskOf({ question, topics }), { client, trace: () => {} });
    const of = <Kind extends Decision['kind']>(kind: Kind) =>
      client.asked.filter((one): one is Extract<Decision, { kind: Kind }> => one.kind === kind);
    const judged: readonly JudgeDecision[] = of('judge');
    const scored: readonly ScoreDecision[] = of('score');
    const offeredAt = (name: string) =>
      scored
        .filter(({ phase, subjects }) => phase === 'relation-prune' && subjects?.[0] === graph.entityId(name))
        .map(({ candidates }) => candidates.map(({ text }) => text));
    return { answer, evidence: judged.map((one) => one.evidence), offeredAt };
  }

  const fleet: Facts = [
    ['Tamsin', 'sailed', 'Wren'],
    ['Tamsin', 'sailed', 'Heron'],
    ['Tamsin', 'sailed', 'Gull'],
    ['Tamsin', 'sailed', 'Lark'],
  ];

  test.each(['Wren', 'Heron', 'Gull', 'Lark'])(
    'B-TOG-2: the entity that was scored is the one that is kept: %s',
    async (ship) => {
      const byModel = await explored(fleet, (name) => (name === 'sailed' || name === ship ? 10 : 0), { depth: 1 });
      expect(byModel.evidence).toEqual([[['Tamsin', 'sailed', ship]]]);
      // Word overlap orders by score: the name in the question comes first, at any position.
      const byWords = await explored(fleet, () => 0, {
        ...{ prune: 'bm25', depth: 1, width: 1 },
        question: `who sailed ${ship}`,
      });
      expect(byWords.evidence).toEqual([[['Tamsin', 'sailed', ship]]]);
    },
  );

  test('B-TOG-5: a beam leaves by any relation but its own inverse, independent of the other beams', async () => {
    // The Heron was reached by `sailed`; who sailed the Lark, which was reached by `saw`, may be asked all the same.
    const facts: Facts = [
      ['Tamsin', 'sailed', 'Heron'],
      ['Heron', 'built_by', 'Ivo'],
      ['Tamsin', 'saw', 'Lark'],
      ['Orin', 'sailed', 'Lark'],
      ['Orin', 'saw', 'Heron'],
    ];
    for (const noReturn of ['edge', 'relation']) {
      const { offeredAt } = await explored(facts, () => 5, { noReturn, depth: 2, width: 5 });
      expect(offeredAt('Heron')).toEqual([['built_by', '~saw']]);
      expect(offeredAt('Lark')).toEqual([['~sailed']]);
    }
  });
});

/** The reference's bugs, by their ids in the specification: what each would have broken. */
describe('FiSKE', () => {
  const matches = (asked: readonly { kind: string }[]) =>
    asked.filter(({ kind }) => kind === 'match') as MatchDecision[];

  test('B-FISKE-1: every start has its own depth', async () => {
    const facts = [...townFacts, ['repaired', 'is_a', 'bought'], ['bought', 'is_a', 'word']] as const;
    const { answer, names } = await askFiske(
      { ...townReading, clues: ['repaired', 'bought', 'Orla Brandt'] },
      { facts, startPolicy: 'sequential', zeroCallShortcut: false },
    );
    expect(answer.stop).toBe('covered');
    expect(names).toEqual(['Jon Weil', 'Mia Kop']);
  });

  test('B-FISKE-2: every batch of every start is asked about once', async () => {
    const relations = Array.from({ length: 45 }, (_, i) => `r${String(i).padStart(2, '0')}`);
    const facts = ['Ann', 'Bo'].flatMap((head) =>
      relations.map((relation) => [head, relation, `${head} ${relation}`] as const),
    );
    const { client } = await askFiske({ clues: ['Ann', 'Bo', 'other'] }, { facts, startPolicy: 'sequential' });
    const shown = matches(client.asked).map(({ candidates }) => candidates.map(({ text }) => text));
    expect(shown.map(({ length }) => length)).toEqual([20, 20, 5, 20, 20, 5]);
    expect(shown.slice(0, 3).flat()).toEqual(relations);
    expect(shown.slice(3).flat()).toEqual(relations);
  });

  test('B-FISKE-3: one partial branch alone is shown to the model', async () => {
    const { answer, client } = await askFiske(
      {
        clues: ['Orla Brandt', 'bought', 'painted'],
        relations: { '~purchased_by': 'bought' },
        entities: { '~purchased_by → Harbour Clock': 'bought' },
      },
      { gateAnswer: false },
    );
    expect(client.asked.at(-1)!.evidence).toEqual([['Harbour Clock', 'purchased_by', 'Orla Brandt']]);
    expect(answer).toMatchObject({ verified: false, stop: 'dead-end' });
  });

  test('B-FISKE-4: a relation whose name begins like another, or holds a clue, is matched by number alone', async () => {
    const facts = [
      ['Ann', 'place', 'Vell'],
      ['Ann', 'place_of_birth', 'Skarn'],
      ['Ann', 'place_of_birth_9', 'Orm'],
    ] as const;
    const { names } = await askFiske({ clues: ['Ann', 'place'], relations: { place_of_birth: 'place' } }, { facts });
    expect(names).toEqual(['Skarn']);
  });

  test('B-FISKE-4: a clue that stands inside the name of a relation is not covered by it', async () => {
    const reached = async (relation: string) =>
      (await askFiske({ clues: ['Ann', 'Skarn', 'birth'] }, { facts: [['Ann', relation, 'Skarn']] })).answer.stop;
    expect(await reached('birth')).toBe('covered');
    for (const longer of ['place_of_birth', 'birthplace', 'no_birth']) expect(await reached(longer)).toBe('dead-end');
  });

  test('B-FISKE-5: every matched entity counts, with any number of unmatched ones between', async () => {
    const facts = Array.from({ length: 9 }, (_, i) => ['Ann', 'owns', `Clock ${i}`] as const);
    const kept = [0, 3, 4, 8];
    const entities = Object.fromEntries(kept.map((i) => [`owns → Clock ${i}`, 'clocks']));
    const { names } = await askFiske({ clues: ['Ann', 'clocks'], relations: { owns: 'clocks' }, entities }, { facts });
    expect(names).toEqual(kept.map((i) => `Clock ${i}`));
  });

  test('B-FISKE-6: a question whose clues cannot be read is answered all the same, and marked', async () => {
    const { answer, names, events } = await askFiske({ ...townReading, clues: undefined });
    expect(events).toContainEqual({
      event: 'decision',
      phase: 'clues',
      summary: 'Orla Brandt; repaired; clocks; bought',
    });
    expect(answer.degraded).toBe(true);
    expect(names).toEqual([]);
    expect(answer.stop).toBe('dead-end');
  });

  test.each([2, 3, 4, 5, 6, 30])(
    'B-FISKE-7: with a budget of %i no call is made beyond it, the answer included',
    async (budget) => {
      const { phases, answer } = await askFiske(townReading, { budget });
      expect(phases.length).toBeLessThanOrEqual(budget);
      expect(phases.at(-1)).toBe(budget < 6 ? 'direct-answer' : 'answer');
      expect(answer.stop).toBe(budget < 6 ? 'budget' : 'covered');
    },
  );

  test('B-FISKE-7: the direct answer is a call like any other', async () => {
    const { phases, client } = await askFiske({ clues: ['Nobody'], answers: ['Jon Weil'] });
    expect(phases).toEqual(['clues', 'direct-answer']);
    expect(client.asked.at(-1)!.final).toBe(true);
  });

  test('B-FISKE-8: facts are written in the direction of the graph, also when walked backwards', async () => {
    const { answer, client } = await askFiske(townReading);
    expect(answer.evidence).toContainEqual(['Harbour Clock', 'purchased_by', 'Orla Brandt']);
    expect(answer.evidence).toContainEqual(['Harbour Clock', 'repaired_by', 'Jon Weil']);
    expect(client.asked.at(-1)!.evidence).toEqual(answer.evidence);
  });

  test('B-FISKE-9: starts and neighbours are found for any case and punctuation of clues', async () => {
    const started = await askFiske({ ...townReading, clues: ['orla  BRANDT', 'bought', 'repaired'] });
    expect(started.names).toEqual(['Jon Weil', 'Mia Kop']);
    const { names, phases } = await askFiske({ clues: ['Ida Rem', 'the BLUE clock!'], answers: [] });
    expect(phases).toEqual(['clues', 'answer']);
    expect(names).toEqual([]);
  });

  test('B-FISKE-10: the same question gives the same prompt for any order of the graph file', async () => {
    const shown = async (facts: typeof townFacts) =>
      (await askFiske(townReading, { facts })).client.asked.map((decision) => ({
        phase: decision.phase,
        candidates: 'candidates' in decision ? decision.candidates.map(({ text }) => text) : [],
        targets: 'targets' in decision ? decision.targets : [],
      }));
    const once = await shown(townFacts);
    expect(await shown(townFacts)).toEqual(once);
    expect(await shown([...townFacts].reverse())).toEqual(once);
  });

  test('B-FISKE-11: all homonyms start, and those beyond the limit are reported', async () => {
    const facts = [
      ...['Lark', 'lark', 'LARK'].map((head, i) => [head, 'built_by', `Builder ${i}`] as const),
      ['Wren', 'built_by', 'Builder 9'],
    ] as const;
    const reading = { clues: ['lark', 'built'], relations: { built_by: 'built' } };
    expect((await askFiske(reading, { facts })).names).toEqual(['Builder 0', 'Builder 1', 'Builder 2']);
    const limited = await askFiske(reading, { facts, maxStarts: 2 });
    expect(limited.names).toEqual(['Builder 0', 'Builder 1']);
    expect(limited.events).toContainEqual({ event: 'note', text: '1 homonyms left out' });
  });

  test('B-FISKE-11: entities beyond the limit are cut in a fixed order and reported, or accepted as one group', async () => {
    const facts = Array.from({ length: 50 }, (_, i) => ['Ann', 'owns', `Clock ${i}`] as const);
    const reading = { clues: ['Ann', 'owned'], relations: { owns: 'owned' } };
    const cut = await askFiske(reading, { facts, maxCandidates: 30, overflow: 'truncate' });
    expect(cut.names).toEqual(facts.slice(0, 30).map(([, , tail]) => tail));
    expect(cut.events).toContainEqual({ event: 'note', text: '20 of 50 entities of owns cut' });
    const whole = await askFiske(reading, { facts, maxCandidates: 30 });
    expect(whole.names).toHaveLength(50);
    expect(whole.phases).toEqual(['clues', 'relation-map', 'answer']);
    expect(whole.events).toContainEqual({ event: 'note', text: '50 entities of owns taken whole' });
  });

  test('B-FISKE-12: partial and complete match are those of the one matcher', async () => {
    const graph = graphOf(townFacts);
    const golds = ['Jon Weil', 'Mia Kop'].map((name) => ({ name, entity: graph.entityId(name) }));
    const scored = async (multiAnswerRule: boolean) => {
      const entities = { ...townReading.entities, 'repaired_by → Mia Kop': 'repaired' };
      const { answer } = await askFiske({ ...townReading, entities, answers: [] }, { multiAnswerRule });
      return answerMetrics(matchAnswers(answer, { golds, topics: [] }), golds.length);
    };
    const all = await askFiske(townReading);
    expect(answerMetrics(matchAnswers(all.answer, { golds, topics: [] }), 2)).toMatchObject({
      partial: 1,
      complete: 1,
    });
    expect(await scored(true)).toMatchObject({ partial: 1, complete: 0 });
  });
});

/** Bugs of StructGPT’s, KG-GPT’s and other systems’ kin, by their ids in the catalogue: what each would break here. */
describe('other agents', () => {
  test('B-KGGPT-1: two hops find every tail of every middle, not the first of each', async () => {
    const edges = fc.array(fc.tuple(fc.nat(4), fc.nat(6)), { minLength: 1, maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(edges, edges, async (first, second) => {
        const graph = worldOf('fan', [
          ['topic', 'r', 'm0'],
          ...first.map(([m]) => ['topic', 'r', `m${m}`] as const),
          ...second.map(([m, t]) => [`m${m}`, 's', `t${t}`] as const),
        ]);
        const middles = new Set(['m0', ...first.map(([m]) => `m${m}`)]);
        const expected = [...new Set(second.filter(([m]) => middles.has(`m${m}`)).map(([, t]) => `t${t}`))].sort();
        const topic = graph.entityId('topic');
        const chain = [graph.relationId('r'), graph.relationId('s')];
        const names = (entities: Iterable<number>) => [...entities].map((entity) => graph.entityNames[entity]).sort();
        expect(names(executeChain(graph, [topic], chain).entities)).toEqual(expected);
        expect(names((await executed(graph, [topic], chain, [topic])).answers)).toEqual(expected);
      }),
      { numRuns: 50 },
    );
  });

  test('B-KGGPT-1, B-POG-1: questions of one text, or of one long beginning, are separate questions', async () => {
    const long = 'which of the ships '.repeat(30);
    const texts = ['who built it', 'who built it', `${long} is old`, `${long} is new`, '../up', 'a/b\u0000c'];
    const samples = texts.map((question, i) =>
      questionOf(`q${i}`, i % 2 ? 'Heron' : 'Lark', [i % 2 ? 'Ivo' : 'Ada'], { task: { question } }),
    );
    const builders = agentOf(({ topics }) => ({ entities: [id(topics[0]!.name === 'Heron' ? 'Ivo' : 'Ada')] }));
    const { rows, record } = await evaluatedQuestions(builders, samples, options);
    expect(rows.map((row) => row.id)).toEqual(samples.map(({ task }) => task.id));
    expect(record.n).toBe(6);
    expect(record.metrics['hit@1']).toMatchObject({ value: 1, n: 6 });
  });

  test('B-MHK-1: a gold that is ranked first counts in every figure', () => {
    const gold = [[0, 1, 10]] as const;
    const ranked = [
      { path: gold, logProb: -1 },
      { path: [[0, 1, 11]] as const, logProb: -2 },
    ];
    const { path, entityPath, relationPath } = pathRanks(ranked, gold, 99);
    const { target, summedTarget } = targetRanks(finalEntities(ranked, 0, 99), 10);
    for (const rank of [path, entityPath, relationPath, target, summedTarget]) {
      expect([rank, hitAtK(rank, 1), hitAtK(rank, 25), reciprocalRank(rank)]).toEqual([1, 1, 1, 1]);
    }
  });

  describe('B-CRUSE-1: an evaluation of dialogues', () => {
    const graph = worldOf('ships', [['Heron', 'built_by', 'Ivo']]);
    const gold = [['Heron', 'built_by', 'Ivo']] as const;
    const samples = Array.from({ length: 30 }, (_, i) => sampleOf(graph, `d${i}`, 'who built her', 'Heron', gold));
    const { path } = samples[0]!.gold;
    const right = {
      paths: [{ path, logProb: 0 }],
      answers: [{ entity: path[0]![2], logProb: 0, summedLogProb: 0 }],
      cost: {},
    };
    const failingOn = (fails: (task: WalkTask) => boolean, error: Error): Agent => ({
      name: 'toy',
      answer: (tasks) => (tasks.some(fails) ? Promise.reject(error) : Promise.resolve(tasks.map(() => right))),
    });
    const run = (agent: Agent) =>
      evaluatedDialogues(agent, samples, {
        graph,
        settings: evaluationSettings.parse({ resamples: 10, batchSize: 4 }),
        seenTargets: new Set(),
        about: { dataset: 'toy', split: 'valid', turns: 'all' },
      });

    test.each([
      ['a bug', new Error('no memory')],
      ['a prompt that does not fit', new WorkbenchError('data', 'expected a prompt of at most 70 tokens, got 90')],
      ['a request that fails', new WorkbenchError('failure', 'expected a reply, got none')],
    ])('counts %s as misses of its tasks', async (_, error) => {
      const { record, failures } = await run(failingOn(({ id: name }) => ['d3', 'd4', 'd17'].includes(name), error));
      expect(failures.map((failure) => failure.id)).toEqual(['d3', 'd4', 'd17']);
      expect(record).toMatchObject({ n: 30, misses: { 'agent-failed': 3 } });
      expect(record.metrics['path@1']).toMatchObject({ value: 27 / 30, n: 30 });
    });

    test('ends where task after task fails by something outside the agent', async () => {
      const away = new WorkbenchError('failure', 'expected a reply, got none');
      let calls = 0;
      const agent = failingOn(() => ++calls > 0, away);
      await expect(run(agent)).rejects.toBe(away);
      expect(calls).toBeLessThan(20);
      await expect(run(failingOn(() => true, new WorkbenchError('native', 'no backend')))).rejects.toThrow(
        'no backend',
      );
    });
  });
});
