import { describe, expect, test } from '@jest/globals';
import {
  askAnswer,
  fromFrontier,
  frontierAnswers,
  frontierOf,
  namedInQuestion,
  onwardRelations,
  relationChoice,
  saidAnswers,
  startWalk,
  stepWalk,
  walkFacts,
  walksFacts,
} from '../../../agents/prompted/frontier-steps.js';
import { chainEvidence } from '../../../agents/question-agent.js';
import { questionAgents } from '../../../agents/question-agents.js';
import type { QuestionTask } from '../../../datasets/question.js';
import { canonicalOrder } from '../../../src/kg/frontier.js';
import { NameIndex } from '../../../src/kg/name-index.js';
import type { Decision, JudgeDecision, ScoreDecision } from '../../../src/llm/decision.js';
import { mostAnswers } from '../../../src/llm/decisions/forms/answer.js';
import { scriptedClient } from '../../fixtures/scripted-client.js';
import { type Facts, type Ways, graphOf, resourcesOf, taskOf, townAsker, townFacts } from './clock-town.js';

/** Ships and their builders: `sailed` leads to three ships, each `built_by` someone; one ship has no name to speak of. */
const ships: Facts = [
  ['Tamsin', 'sailed', 'Heron'],
  ['Tamsin', 'sailed', 'Lark'],
  ['Tamsin', 'sailed', 'Brindle'],
  ['Tamsin', 'born_on', 'Skarn'],
  ['Heron', 'built_by', 'Ivo'],
  ['Lark', 'built_by', 'Ada'],
  ['Brindle', 'built_by', 'Ivo'],
  ['Heron', 'docked_at', 'Vell'],
];
const graph = graphOf(ships);
const resources = resourcesOf(graph);
const topics = [{ name: 'Tamsin', entity: graph.entityId('Tamsin') }];
const task = taskOf({ question: 'who built the ships that Tamsin sailed', topics });
const id = (name: string) => graph.entityId(name);

/** Follows `sailed`, then `built_by`; says that it suffices once a builder is in the facts. */
function wise(decision: Decision): unknown {
  if (decision.kind === 'score') {
    const good = ['sailed', 'built_by', 'Heron', 'Lark', 'Brindle', 'Ivo', 'Ada'];
    return { scores: decision.candidates.map(({ text }) => (good.includes(text) ? 10 : 0)) };
  }
  if (decision.kind === 'judge') {
    const builders = decision.evidence.filter(([, relation]) => relation === 'built_by').map(([, , tail]) => tail);
    return builders.length > 0
      ? { choice: 0, reason: 'Builders are given.', answers: [...new Set(builders)] }
      : { choice: -1, reason: 'Builders are missing.', answers: [] };
  }
  return { answers: ['Ivo'] };
}

const shipAsk = townAsker('tog', { question: task.question, topics });
const run = (script: (decision: Decision) => unknown, switches: Ways = {}, ways: Ways = {}) =>
  shipAsk(script, { facts: ships, ...switches, ...ways });

/** Finds everything as good, and no verdict. */
const torn = (decision: Decision) =>
  decision.kind === 'score'
    ? { scores: decision.candidates.map(() => 5) }
    : decision.kind === 'judge'
      ? { choice: -1, reason: '', answers: [] }
      : { answers: ['Ivo'] };

describe('Think-on-Graph', () => {
  test('walks two hops, stops when the facts suffice and answers from the verdict', async () => {
    const { answer, phases } = await run(wise);
    expect(answer.entities).toEqual([id('Ivo'), id('Ada')]);
    expect(answer).toMatchObject({ stop: 'suffices', verified: true, degraded: false });
    // Depth 1: relations, entities, verdict. Depth 2: relations of three ships, one tail each, verdict. No answer call.
    const relations = 'relation-prune';
    expect(phases).toEqual([relations, 'entity-prune', 'judge', relations, relations, relations, 'judge']);
  });

  test('never walks back the edge it came by; the reference closes the whole relation', async () => {
    for (const noReturn of ['edge', 'relation'] as const) {
      const { asked } = await run(torn, { noReturn, width: 10 });
      const fromIvo = asked.filter((decision): decision is ScoreDecision => decision.subjects?.[0] === id('Ivo'));
      // Ivo is reached over one ship and built another: that one is offered, by the same relation, unless it is closed.
      const texts = fromIvo.flatMap(({ candidates }) => candidates.map(({ text }) => text));
      expect(texts).toEqual(noReturn === 'edge' ? ['~built_by'] : []);
    }
  });

  test('B-TOG-2: names and ids stay together under any order of scores', async () => {
    const { asked } = await run(wise, { prune: 'bm25' });
    const judged = asked.filter((decision): decision is JudgeDecision => decision.kind === 'judge');
    for (const { evidence } of judged) {
      for (const [head, relation, tail] of evidence) {
        expect(graph.edgeIndex(id(head), graph.relationId(relation), id(tail))).toBeGreaterThanOrEqual(0);
      }
    }
    // The answer call is the only other one: word overlap costs no calls.
    expect(asked.every(({ kind }) => kind === 'judge' || kind === 'answer')).toBe(true);
  });

  test('B-TOG-3: a reduction of many entities is the same every time, and counts from the limit on', async () => {
    for (const reduction of ['first', 'sample']) {
      const switches = { maxCandidates: 2, retain: 2, reduction };
      const [first, second] = [await run(wise, switches), await run(wise, switches)];
      const scored = ({ asked }: typeof first) =>
        asked.filter(({ phase }) => phase === 'entity-prune').map((decision) => (decision as ScoreDecision).candidates);
      expect(scored(first)).toEqual(scored(second));
      expect(scored(first)[0]).toHaveLength(2);
    }
    const { asked } = await run(wise, { maxCandidates: 3 });
    expect((asked[1] as ScoreDecision).candidates).toHaveLength(3);
  });

  test('B-TOG-4: where no way leads on, one answer call follows and nothing else', async () => {
    const { answer, asked } = await run((decision) =>
      decision.kind === 'score' ? { scores: decision.candidates.map(() => 0) } : { answers: [] },
    );
    expect(asked.map(({ kind }) => kind)).toEqual(['score', 'answer']);
    expect(answer).toMatchObject({ stop: 'half-stop', entities: [], literals: [] });
  });

  test('B-TOG-5: what one beam walked last does not close relations to another', async () => {
    const { asked } = await run(torn);
    const relationPrunes = asked.filter((decision): decision is ScoreDecision => decision.phase === 'relation-prune');
    const skarn = relationPrunes.find(({ subjects }) => subjects?.[0] === id('Skarn'));
    // Reached by `born_on`: its only edge leads back, so it has nothing to offer and is not asked about.
    expect(skarn).toBeUndefined();
    const heron = relationPrunes.find(({ subjects }) => subjects?.[0] === id('Heron'))!;
    expect(heron.candidates.map(({ text }) => text)).toEqual(['built_by', 'docked_at']);
  });

  test('B-TOG-6: every candidate is an edge of the graph, so no other relation can be walked', async () => {
    const { asked } = await run(wise);
    for (const decision of asked) {
      if (decision.kind !== 'score') continue;
      for (const candidate of decision.candidates) {
        if (candidate.kind !== 'relation') continue;
        const [subject] = decision.subjects!;
        const begin = graph.offsets[subject!]!;
        expect(graph.relations.subarray(begin, begin + graph.degree(subject!))).toContain(candidate.relation);
      }
    }
  });

  test('when the depth is exhausted the answer rests on the facts, or on the model alone', async () => {
    const blind = (decision: Decision) =>
      decision.kind === 'judge' ? { choice: -1, reason: '', answers: [] } : wise(decision);
    for (const finalPolicy of ['triples', 'cot']) {
      const { answer, asked } = await run(blind, { finalPolicy });
      expect(answer.stop === 'depth' || answer.stop === 'half-stop').toBe(true);
      expect(asked.at(-1)).toMatchObject({ kind: 'answer', final: true });
      expect(asked.filter(({ kind }) => kind === 'answer')).toHaveLength(1);
    }
    const { asked } = await run(blind, { finalPolicy: 'cot', depth: 2 });
    expect(asked.at(-1)).toMatchObject({ kind: 'answer', evidence: [], withReasoning: true });
  });

  test('after the given hops it answers from the facts, also with answers known to the model alone', async () => {
    const { answer, asked } = await run(wise, { hops: 'given', finalPolicy: 'cot' }, { change: { hops: 2 } });
    expect(answer.stop).toBe('hops');
    expect(asked.at(-1)).toMatchObject({ kind: 'answer', withReasoning: false });
    expect(asked.at(-1)!.evidence.length).toBeGreaterThan(0);
  });

  test('a spent budget leads to the answer on the reserved call', async () => {
    const { answer, asked } = await run(wise, {}, { budget: 3 });
    expect(asked.map(({ kind }) => kind)).toEqual(['score', 'score', 'answer']);
    expect(answer).toMatchObject({ stop: 'budget', entities: [id('Ivo')] });
  });

  test('replies that cannot be read never drop the question', async () => {
    const { answer } = await run(() => undefined);
    expect(answer).toMatchObject({ degraded: true, entities: [], stop: 'half-stop' });
  });

  test('shows the path walked at every choice of relations', async () => {
    const { asked } = await run(wise);
    const blocks = asked.filter(({ phase }) => phase === 'relation-prune').map(({ context }) => context);
    expect(blocks[0]).toEqual([{ label: 'Path', lines: ['Tamsin'] }]);
    expect(blocks[1]![0]).toEqual({ label: 'Path', lines: ['Tamsin → sailed'] });
    expect(blocks[1]![1]!.label).toBe('Entity');
  });

  test('with share=beams all beams of a depth have one call for their relations', async () => {
    const { answer, asked, phases } = await run(wise, { share: 'beams' });
    expect(phases).toEqual(['relation-prune', 'entity-prune', 'judge', 'relation-prune', 'judge']);
    expect((asked[3] as ScoreDecision).candidates.map(({ text }) => text)).toEqual(['built_by', 'docked_at']);
    expect(answer.entities).toEqual([id('Ivo'), id('Ada')]);
  });

  test('asks for no relation where the pre-filter leaves one', async () => {
    const { phases } = await run(wise, { prefilter: 'bm25', keep: 1 });
    expect(phases).not.toContain('relation-prune');
    expect(phases.length).toBeGreaterThan(0);
  });

  describe('over whole sets', () => {
    const byScore = (switches: Ways, change: Partial<QuestionTask> = {}, budget?: number) =>
      run(setReply, switches, { change, budget, byLikelihood: true });
    const setReply = (decision: Decision) =>
      decision.kind === 'judge'
        ? { choice: decision.candidates.findIndex(({ text }) => text === 'sailed → built_by'), reason: '', answers: [] }
        : wise(decision);

    test('answers with everything behind the best way, and asks about no entity', async () => {
      const { answer, phases } = await byScore({}, { hops: 2 });
      expect(phases).toEqual(['relation-prune', 'relation-prune']);
      expect([...answer.entities].sort()).toEqual([id('Ivo'), id('Ada')].sort());
      expect(answer).toMatchObject({ stop: 'hops', degraded: false });
      expect(answer.confidence).toBeUndefined();
      expect(answer.chain).toEqual([graph.relationId('sailed'), graph.relationId('built_by')]);
    });

    test('judges paths of all lengths with an unknown hop count', async () => {
      const { answer, phases } = await byScore({ depth: 2 });
      expect(phases.at(-1)).toBe('judge');
      expect(answer).toMatchObject({ stop: 'depth' });
      expect(answer.verified).toBeUndefined();
      expect(answer.chain).toEqual([graph.relationId('sailed'), graph.relationId('built_by')]);
    });

    test('is as sure as of all choices on the way together, not of the verdict alone', async () => {
      const confidenceOf = async (share?: number) => {
        const script = (decision: Decision) => (decision.kind === 'score' ? torn(decision) : setReply(decision));
        const client = scriptedClient(script, Infinity, true);
        const decide = async <D extends Decision>(decision: D) => ({
          ...(await client.decide(decision)),
          ...(decision.kind === 'judge' ? share !== undefined && { confidence: share } : { confidence: 0.5 }),
        });
        const agent = await questionAgents.create('tog', resources, { depth: 2 });
        const session = {
          client: Object.create(client, { decide: { value: decide } }) as typeof client,
          trace: () => {},
        };
        return (await agent.answer(task, session)).confidence;
      };
      const ofPath = (await confidenceOf(1))!;
      expect(ofPath).toBeLessThan(1);
      expect(await confidenceOf(0.5)).toBeCloseTo(ofPath / 2, 12);
      // Named rather than scored.
      expect(await confidenceOf()).toBeUndefined();
    });

    test('is as sure as the pre-filter of the relation that this one leaves', async () => {
      const { answer, phases } = await byScore({ prefilter: 'bm25', keep: 1 }, { hops: 1 });
      expect(phases).toEqual([]);
      expect(answer.confidence).toBeGreaterThan(0.5);
      expect(answer.confidence).toBeLessThan(0.9);
      const written = await run(setReply, { answers: 'frontier', depth: 2 });
      expect(written.answer.chain).toHaveLength(2);
      expect(written.answer.confidence).toBeUndefined();
    });

    test('keeps those named in the question, of too many those with the most paths, without a call', async () => {
      const question = 'who built the Brindle that Tamsin sailed';
      const named = await byScore({}, { hops: 2, question });
      expect(named.phases).toEqual(['relation-prune']);
      expect(named.answer.entities).toEqual([id('Ivo')]);
      // Of three ships only the first is expanded, over its builder back to all that he built.
      const back = (decision: Decision) => ({
        scores:
          'candidates' in decision
            ? decision.candidates.map(({ text }) => (/built_by$|sailed/.test(text) ? 10 : 0))
            : [],
      });
      const ways = { change: { hops: 3 }, byLikelihood: true };
      const limited = await run(back, { frontierLimit: 1, maxCandidates: 2 }, ways);
      expect(limited.phases).not.toContain('entity-prune');
      expect(limited.answer.entities).toEqual([id('Heron'), id('Brindle')]);
    });

    test('keeps what it has where the budget is spent, and gives nothing without a topic', async () => {
      const { answer, phases } = await byScore({}, { hops: 2 }, 2);
      expect(phases).toEqual(['relation-prune']);
      expect(answer).toMatchObject({ stop: 'budget', chain: [graph.relationId('sailed')] });
      // The call that is kept for the end chooses among all ways so far.
      const script = (decision: Decision) =>
        decision.kind === 'judge'
          ? { ...{ reason: '', answers: [] }, choice: decision.candidates.findIndex(({ text }) => text === 'sailed') }
          : torn(decision);
      const chosen = await run(script, { depth: 2 }, { budget: 2, byLikelihood: true });
      const ways = chosen.answer;
      expect(chosen.phases).toEqual(['relation-prune', 'judge']);
      expect(ways).toMatchObject({ stop: 'budget', chain: [graph.relationId('sailed')] });
      expect(ways.verified).toBeUndefined();
      const nowhere = await byScore({}, { topics: [] });
      expect(nowhere.answer).toMatchObject({ stop: 'no-topic', entities: [] });
      expect(nowhere.phases).toEqual([]);
    });

    test('an unreadable reply is marked, and the question is answered all the same', async () => {
      const { answer } = await run(() => undefined, {}, { byLikelihood: true });
      expect(answer).toMatchObject({ degraded: true, entities: [], stop: 'half-stop' });
    });
  });
});

describe('steps of frontiers', () => {
  const graph = graphOf(townFacts);
  const id = (name: string) => graph.entityId(name);
  const named = (relations: readonly number[]) => relations.map((relation) => graph.relationNames[relation]!);
  const task = taskOf({ topics: [{ name: 'Orla Brandt', entity: id('Orla Brandt'), span: [29, 40] }] });
  const walked = (...names: string[]) =>
    names.reduce((walk, name) => stepWalk(graph, walk, graph.relationId(name)), startWalk(task));
  const repaired = walked('~purchased_by', 'repaired_by');

  describe('facts of several walks', () => {
    const many = graphOf(
      Array.from({ length: 8 }, (_, i) => i).flatMap((i) => [
        ['Orla Brandt', `keeps ${i}`, `Clock ${i}`] as const,
        [`Clock ${i}`, 'stands_in', `Town ${i}`] as const,
      ]),
    );
    const orla = { ...task, topics: [{ name: 'Orla Brandt', entity: many.entityId('Orla Brandt') }] };
    const walks = Array.from({ length: 8 }, (_, i) =>
      [`keeps ${i}`, 'stands_in'].reduce((walk, name) => stepWalk(many, walk, many.relationId(name)), startWalk(orla)),
    );
    const shown = (limit: number) => walksFacts(many, orla, walks, limit).map(([head, , tail]) => `${head} ${tail}`);

    test('where shares are shorter than a way, the best walks have whole ways, as many as there may be', () => {
      const ways = (count: number) =>
        Array.from({ length: count }, (_, i) => [`Orla Brandt Clock ${i}`, `Clock ${i} Town ${i}`]).flat();
      expect(shown(4)).toEqual(ways(2));
      expect(shown(5)).toEqual(ways(2));
      expect(shown(16)).toEqual(ways(8));
    });
  });

  describe('a walk of whole sets', () => {
    test('begins at each topic that the graph has, once', () => {
      const topics = [...task.topics, ...task.topics, { name: 'Nobody', entity: -1 }];
      expect(startWalk({ ...task, topics }).topics).toEqual([id('Orla Brandt')]);
      expect(frontierOf(startWalk({ ...task, topics: [] })).entities).toHaveLength(0);
    });

    test('offers the relations of everything reached, by name, and never the edge back to a topic', () => {
      const first = walked('~purchased_by');
      const onward = onwardRelations(graph, frontierOf(first), first.excluded);
      expect(named(onward)).toEqual(['repaired_by', 'stands_in']);
      expect(relationChoice(graph, task, first, onward)).toMatchObject({
        questionId: 'q-1',
        context: [{ label: 'Path', lines: ['Orla Brandt → ~purchased_by'] }],
        subjects: [...frontierOf(first).entities],
        candidates: [{ kind: 'relation', text: 'repaired_by' }, { text: 'stands_in' }],
      });
      expect(relationChoice(graph, task, startWalk(task), []).context[0]!.lines).toEqual(['Orla Brandt']);
    });

    test('lets a topic come back where the data set does', () => {
      const back = startWalk({ ...task, topicsReturn: true });
      const first = stepWalk(graph, back, graph.relationId('~purchased_by'));
      expect(named(onwardRelations(graph, frontierOf(first), first.excluded))).toContain('purchased_by');
    });

    test('shows one way to each end, what the question names first, as a chain does', () => {
      const ends = canonicalOrder(frontierOf(repaired));
      expect(ends).toEqual([id('Jon Weil'), id('Mia Kop')]);
      expect(walkFacts(graph, task, repaired, 50)).toEqual(
        chainEvidence(graph, repaired.topics, repaired.relations, ends, 50),
      );
      const about = {
        ...task,
        question: 'true or false: Mia Kop repaired a clock that Orla Brandt bought',
        topics: [],
      };
      expect(walkFacts(graph, about, repaired, 2)).toEqual([
        ['Tower Clock', 'purchased_by', 'Orla Brandt'],
        ['Tower Clock', 'repaired_by', 'Mia Kop'],
      ]);
    });
  });

  describe('what the question names', () => {
    const asked = (question: string) =>
      namedInQuestion(graph, { ...task, question, topics: [] }, [id('Vell'), id('Skarn')]);

    test('is contained as whole words, in any case', () => {
      expect(asked('who lives in vell?')).toEqual([id('Vell')]);
      expect(asked('what a velleity')).toEqual([]);
    });

    test('is no mention of a topic', () => {
      const question = 'who lives in Vell';
      const topics = [{ name: 'Vell', entity: id('Vell'), span: [13, 17] as const }];
      expect(namedInQuestion(graph, { ...task, question, topics }, [id('Vell')])).toEqual([]);
    });
  });

  describe('the answer', () => {
    test('comes out of the frontier where choices go by likelihood, or where that is asked for', () => {
      const written = scriptedClient(() => ({}));
      const scored = { ...written, byLikelihood: true };
      expect([fromFrontier('auto', written), fromFrontier('auto', scored)]).toEqual([false, true]);
      expect([fromFrontier('frontier', written), fromFrontier('model', scored)]).toEqual([true, false]);
    });

    test('is everything reached; of a statement, whether it names some of that', () => {
      const ends = canonicalOrder(frontierOf(repaired));
      expect(frontierAnswers(graph, task, ends)).toEqual({ entities: ends, literals: [] });
      const claim = (question: string) => ({ ...task, form: 'truth' as const, question, topics: [] });
      expect(frontierAnswers(graph, claim('true or false: Jon Weil did it'), ends)).toMatchObject({ truth: true });
      expect(frontierAnswers(graph, claim('true or false: Ida Rem did it'), ends)).toMatchObject({ truth: false });
      expect(frontierAnswers(graph, claim('true or false: Ida Rem did it'), [])).toEqual({
        entities: [],
        literals: [],
      });
    });

    test('of the model is asked on the reserved call, and is nothing where the budget is spent', async () => {
      const prompts = { task: 'a', examples: [], truthTask: 'b', truthExamples: [] };
      const client = scriptedClient(() => ({ answers: ['Vell'] }), 1);
      expect(await askAnswer(task, client, [], prompts)).toEqual({ answers: ['Vell'] });
      expect(client.asked[0]).toMatchObject({ kind: 'answer', final: true, task: 'a' });
      expect(await askAnswer(task, client, [], prompts)).toBeUndefined();
      const truth = scriptedClient(() => ({ answers: ['true'] }));
      await askAnswer({ ...task, form: 'truth' }, truth, [], prompts);
      expect(truth.asked[0]).toMatchObject({ form: 'truth', task: 'b' });
    });

    const many = graphOf(Array.from({ length: 30 }, (_, i) => [`Clock ${i}`, 'purchased_by', 'Orla Brandt']));
    const names = new NameIndex(many);
    const ends = Array.from({ length: 30 }, (_, i) => many.entityId(`Clock ${i}`));
    const said = (texts: readonly string[]) => saidAnswers(task, texts, { names, met: new Set(ends), ends });
    const full = Array.from({ length: mostAnswers }, (_, i) => `clock ${i}`);

    test('that is as long as a reply may be stands for all ends of the walk', () => {
      expect(said(full).entities).toEqual(ends);
      expect(said(full.slice(1)).entities).toHaveLength(mostAnswers - 1);
      expect(said([...full.slice(1), 'Orla Brandt']).entities).toHaveLength(mostAnswers);
      expect(said([...full.slice(1), 'no such clock'])).toMatchObject({ literals: ['no such clock'] });
    });

    test('of a statement is its verdict', () => {
      const claim = { ...task, form: 'truth' as const };
      expect(saidAnswers(claim, ['false'], { names, met: new Set(), ends: [] })).toEqual({
        ...{ entities: [], literals: [], truth: false, text: 'false' },
      });
    });
  });
});
