import { describe, expect, test } from '@jest/globals';
import { evaluatedQuestions } from '../../fixtures/evaluated.js';
import { agentOf, chainOf, id, options, questionOf } from '../../fixtures/toy-harbour.js';

const builders = ['sailed', 'built_by'];
const samples = Array.from({ length: 20 }, (_, i) =>
  i === 7
    ? questionOf('q7', 'Ada', [], { truth: false, task: { form: 'truth' } })
    : questionOf(`q${i}`, 'Tamsin', ['Ivo', 'Ada'], { chain: builders, type: 'builder' }),
);

const examplesOf = async (...asked: [Parameters<typeof evaluatedQuestions>[0], typeof samples]) =>
  (await evaluatedQuestions(...asked, options)).record.examples;

describe('worked questions', () => {
  test('are the same for every agent, and not those that went well', async () => {
    const silent = await examplesOf(
      agentOf(() => ({})),
      samples,
    );
    const right = await examplesOf(
      agentOf(() => ({ entities: [id('Ada'), id('Ivo')] })),
      samples,
    );
    expect(silent).toHaveLength(8);
    expect(right.map((example) => example.id)).toEqual(silent.map((example) => example.id));
  });

  test('hold names, what was right and said, the way there, and what the agent did', async () => {
    const agent = agentOf(() => ({
      entities: [id('Ivo'), ...Array<number>(20).fill(id('Sea'))],
      literals: ['a stranger'],
      chain: chainOf(...builders),
      evidence: Array.from({ length: 30 }, (_, i) => ['Tamsin', 'sailed', `ship ${i}`] as const),
      stop: 'covered',
    }));
    const examples = await examplesOf(agent, samples.slice(0, 1));
    expect(examples).toMatchObject([
      {
        id: 'q0',
        asked: ['q0 of Tamsin?'],
        topics: ['Tamsin'],
        gold: ['Ivo', 'Ada'],
        golds: 2,
        right: true,
      },
    ]);
    const { answers, lines } = examples[0]!;
    expect(answers).toHaveLength(12);
    expect(answers.slice(0, 2)).toEqual([
      { text: 'Ivo', right: true },
      { text: 'Sea', right: false },
    ]);
    const facts = lines!.filter((line) => line.startsWith('Tamsin —sailed→ ship '));
    expect(facts).toHaveLength(12);
    const chain = builders.join(' → ');
    expect(lines).toEqual([`gold chain: ${chain}`, `chain: ${chain}`, ...facts, 'covered · 0 calls']);
  });

  test('say yes or no to a statement, and why an agent broke', async () => {
    const said = await examplesOf(
      agentOf(() => ({ truth: true })),
      samples.slice(7, 8),
    );
    expect(said).toMatchObject([
      { gold: ['false'], golds: 1, answers: [{ text: 'true', right: false }], right: false },
    ]);
    const broken = agentOf(({ id: name }) => {
      if (name === 'q7') throw new Error('no more memory');
      return {};
    });
    const examples = await examplesOf(broken, samples.slice(6, 8));
    const [crash] = examples.filter((example) => example.id === 'q7');
    expect(crash).toMatchObject({ answers: [], right: false, miss: 'crashed' });
    expect(crash!.lines!.slice(-2)).toEqual(['crashed: no more memory', 'crashed · 0 calls']);
  });
});
