import { describe, expect, test } from '@jest/globals';
import type { NamedTriple } from '../../../../src/llm/decision.js';
import { joinedLines } from '../../../../src/llm/decisions/prompt-text.js';
import { renderPrompt } from '../../../../src/llm/decisions/render-prompt.js';
import { Rng } from '../../../../src/run/seeds.js';
import { answerDecision } from '../../../fixtures/sample-decisions.js';

const facts: readonly NamedTriple[] = [
  ['Harbour Clock', 'purchased_by', 'Orla Brandt'],
  ['Tower Clock', 'repaired_by', 'Mia Kop'],
  ['Tower Clock', 'purchased_by', 'Orla Brandt'],
  ['Tower Clock', 'repaired_by', 'Jon Weil'],
  ['Orla Brandt', 'lives_in', 'Skarn'],
];

describe('facts joined into lines', () => {
  test('stand by head and relation first, then by relation and tail, in the order in which lines begin', () => {
    expect(joinedLines(facts)).toEqual([
      'Harbour Clock; Tower Clock | purchased_by | Orla Brandt',
      'Tower Clock | repaired_by | Mia Kop; Jon Weil',
      'Orla Brandt | lives_in | Skarn',
    ]);
    expect(joinedLines([])).toEqual([]);
  });

  test('are each in one line, and the lines say nothing else', () => {
    const rng = Rng.named(5, 'joined-facts');
    for (let round = 0; round < 50; round++) {
      const drawn = Array.from({ length: 1 + rng.integer(30) }, (): NamedTriple => [
        `h${rng.integer(4)}`,
        `r${rng.integer(3)}`,
        `t${rng.integer(4)}`,
      ]);
      const said = joinedLines(drawn).flatMap((line) => {
        const [heads, relation, tails] = line.split(' | ').map((part) => part.split('; '));
        expect(Math.min(heads!.length, tails!.length)).toBe(1);
        return heads!.flatMap((head) => tails!.map((tail) => [head, relation![0]!, tail].join()));
      });
      expect(said.sort()).toEqual([...new Set(drawn.map((fact) => fact.join()))].sort());
    }
  });

  test('stand in the prompt and its examples of a decision that asks for it, and in no other', () => {
    const example = { question: 'who', evidence: facts.slice(1, 4), reply: { answers: ['Mia Kop'] } };
    const { head, body } = renderPrompt(answerDecision({ evidence: facts, examples: [example], joinFacts: true }));
    expect(head).toContain('Tower Clock | repaired_by | Mia Kop; Jon Weil');
    expect(body).toContain('Harbour Clock; Tower Clock | purchased_by | Orla Brandt');
    const apart = renderPrompt(answerDecision({ evidence: facts, examples: [example] }));
    expect(`${apart.head}${apart.body}`).not.toContain(';');
  });
});
