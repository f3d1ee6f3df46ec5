import { describe, expect, test } from '@jest/globals';
import { evaluateQuestions } from '../../../evaluation/questions/evaluate-questions.js';
import { agentOf, chainOf, id, options, questionOf } from './toy-harbour.js';

const builders = ['sailed', 'built_by'];
const samples = Array.from({ length: 20 }, (_, i) =>
  i === 7
    ? questionOf('q7', 'Ada', [], { truth: false, task: { form: 'truth' } })
    : questionOf(`q${i}`, 'Tamsin', ['Ivo', 'Ada'], { chain: builders, type: 'builder' }),
);

describe('worked questions', () => {
  test('are the same for every agent, and not those that went well', async () => {
    const silent = await evaluateQuestions(
      agentOf(() => ({})),
      samples,
      options,
    );
    const right = await evaluateQuestions(
      agentOf(() => ({ entities: [id('Ada'), id('Ivo')] })),
      samples,
      options,
    );
    expect(silent.examples).toHaveLength(8);
    expect(right.examples.map((example) => example.id)).toEqual(silent.examples.map((example) => example.id));
  });

  test('hold names, what was right and said, the way there, and what the agent did', async () => {
    const agent = agentOf(() => ({
      entities: [id('Ivo'), ...Array<number>(20).fill(id('Sea'))],
      literals: ['a stranger'],
      chain: chainOf(...builders),
      evidence: Array.from({ length: 30 }, (_, i) => ['Tamsin', 'sailed', `ship ${i}`] as const),
      stop: 'covered',
    }));
    const { examples } = await evaluateQuestions(agent, samples.slice(0, 1), options);
    expect(examples).toMatchObject([
      {
        id: 'q0',
        type: 'builder',
        question: 'q0 of Tamsin?',
        topics: ['Tamsin'],
        gold: ['Ivo', 'Ada'],
        golds: 2,
        goldChain: builders,
        answers: 22,
        right: true,
        exact: false,
        chain: builders,
        stop: 'covered',
        calls: [],
      },
    ]);
    expect(examples[0]!.answer).toHaveLength(12);
    expect(examples[0]!.evidence).toHaveLength(12);
  });

  test('say yes or no to a statement, and why an agent broke', async () => {
    const said = await evaluateQuestions(
      agentOf(() => ({ truth: true })),
      samples.slice(7, 8),
      options,
    );
    expect(said.examples).toMatchObject([{ gold: ['false'], golds: 1, answer: ['true'], answers: 1, right: false }]);
    const broken = agentOf(({ id: name }) => {
      if (name === 'q7') throw new Error('no more memory');
      return {};
    });
    const { examples } = await evaluateQuestions(broken, samples.slice(6, 8), options);
    const [crash] = examples.filter((example) => example.id === 'q7');
    expect(crash).toMatchObject({ answer: [], right: false, stop: 'crashed', miss: 'crashed' });
    expect(crash!.steps.at(-1)).toBe('crashed: no more memory');
  });
});
