import { describe, expect, test } from '@jest/globals';
import {
  askAnswer,
  frontierAnswers,
  frontierOf,
  fromFrontier,
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
import { canonicalOrder } from '../../../src/kg/frontier.js';
import { NameIndex } from '../../../src/kg/name-index.js';
import { mostAnswers } from '../../../src/llm/decisions/forms/answer.js';
import { scriptedClient } from '../../fixtures/scripted-client.js';
import { graphOf, taskOf, townFacts } from './clock-town.js';

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
    const about = { ...task, question: 'true or false: Mia Kop repaired a clock that Orla Brandt bought', topics: [] };
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
    expect(frontierAnswers(graph, claim('true or false: Ida Rem did it'), [])).toEqual({ entities: [], literals: [] });
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
