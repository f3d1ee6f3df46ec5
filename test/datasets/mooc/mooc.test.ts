import { describe, expect, test } from '@jest/globals';
import { generateQuestions } from '../../../datasets/mooc/import.js';
import { GraphBuilder } from '../../../src/kg/build-graph.js';
import { executeChain } from '../../../src/kg/frontier.js';

/** 12 teachers, 8 courses, 4 schools, 30 concepts in 3 fields, with prerequisites. */
function campus() {
  const builder = new GraphBuilder();
  for (let c = 0; c < 8; c++) builder.add(`S_${c % 4}`, 'school_offers_course', `C_${c}`);
  for (let t = 0; t < 12; t++) builder.add(`T_${t}`, 'teacher_teaches_course', `C_${t % 8}`);
  for (let k = 0; k < 30; k++) builder.add(`概念${k}`, 'concept_major', `学科${k % 3}`);
  for (let k = 0; k < 20; k++) builder.add(`概念${k}`, 'prerequisite_of', `概念${k + 3}`);
  return builder.build('campus', { addInverses: true });
}

const graph = campus();
const made = generateQuestions(graph, { count: 35, seed: 3 });

describe('generated questions over a MOOC graph', () => {
  test('are the same for the same seed and others for another', () => {
    expect(generateQuestions(graph, { count: 35, seed: 3 })).toEqual(made);
    expect(generateQuestions(graph, { count: 35, seed: 4 })).not.toEqual(made);
  });

  test('have answers that their chain gives, and spans that show the topic', () => {
    for (const { question, topics, answers, chains } of made['1-hop-query']) {
      const [{ name, span }] = topics as [{ name: string; span: [number, number] }];
      expect(question.slice(...span)).toBe(name);
      const chain = chains![0]!.map((relation) => graph.relationId(relation));
      const { entities } = executeChain(graph, [graph.entityId(name)], chain);
      expect(answers.map((answer) => graph.entityId(answer.name)).sort((a, b) => a - b)).toEqual([...entities]);
    }
  });

  test.each(['1-hop-truth', 'multi-hop-truth'] as const)(
    '%s: a statement is true exactly where its chain reaches the claim',
    (subset) => {
      let held = 0;
      for (const { question, topics, chains, truth, claimed } of made[subset]) {
        expect(question).toContain(claimed);
        expect(question).not.toMatch(/[{}]/);
        const chain = chains![0]!.map((relation) => graph.relationId(relation));
        const { entities } = executeChain(graph, [graph.entityId(topics[0]!.name)], chain);
        expect(entities.includes(graph.entityId(claimed!))).toBe(truth);
        held += Number(truth);
      }
      // Every kind alternates true and false.
      expect(Math.abs(held / made[subset].length - 0.5)).toBeLessThan(0.15);
    },
  );

  test('share their number among the kinds', () => {
    const kinds = new Map<string, number>();
    for (const { type } of made['1-hop-query']) kinds.set(type!, (kinds.get(type!) ?? 0) + 1);
    expect([...kinds.values()].every((number) => number <= 5)).toBe(true);
    expect(kinds.size).toBe(7);
  });
});
