import { describe, expect, test } from '@jest/globals';
import { importMetaQa } from '../../../datasets/metaqa/import.js';
import { answerDistances, questionStatistics } from '../../../datasets/questions/question-statistics.js';
import { importPathQuestion } from '../../../datasets/pathquestion/import.js';
import { loadQuestionDataset } from '../../../datasets/questions/question-dataset.js';
import { GraphBuilder } from '../../../src/kg/build-graph.js';
import { folderWith } from '../../fixtures/tiny-release.js';
import { tinyMetaQa, tinyPathQuestion } from '../../fixtures/tiny-questions.js';

describe('questionStatistics', () => {
  test('counts questions, answers, templates and types, and executes the gold chains', async () => {
    const home = folderWith({});
    await importMetaQa({ from: folderWith(tinyMetaQa), home });
    const { subsets } = await questionStatistics(loadQuestionDataset('metaqa', { home }));
    const all = { executable: 1, hit1: 1, f1: 1, exact: 1 };
    expect(subsets['1-hop']).toMatchObject({
      questions: 2,
      answers: { mean: 1.5, max: 2 },
      singleAnswer: 0.5,
      templates: 2,
      types: 2,
      chains: { questions: 2, rules: { leave: all, 'leave at the end': all, stay: all } },
      reach: { questions: 2, within: { 1: 1, 2: 1, 3: 1 } },
    });
    expect(subsets['2-hop']!.reach.within).toEqual({ 1: 0, 2: 1, 3: 1 });
    const { 'dev-train': train, 'dev-valid': valid, 'dev-test': held } = subsets['1-hop']!.splits;
    expect(train! + valid! + held!).toBe(2);
  });

  test('distinguishes excluded topics from topics that stay', async () => {
    const home = folderWith({});
    await importPathQuestion({ from: folderWith(tinyPathQuestion), home });
    const { topicsReturn, subsets } = await questionStatistics(loadQuestionDataset('pathquestion', { home }));
    expect(topicsReturn).toBe(true);
    const { rules } = subsets['2H']!.chains;
    // The third question ends at its own topic, and its second answer is not in the graph: F1 of 1/1 and 1/2.
    expect(rules.stay).toEqual({ executable: 1, hit1: 1, f1: (1 + 1 + 2 / 3) / 3, exact: 2 / 3 });
    expect(rules.leave).toMatchObject({ executable: 2 / 3, hit1: 2 / 3 });
    expect(subsets['2H']).toMatchObject({ answersNotInGraph: 1, types: 2 });
  });

  test('distances are over the fewest edges from any topic, and infinite for what is far or unknown', () => {
    const builder = new GraphBuilder();
    for (const [head, tail] of ['ab', 'bc', 'cd', 'de']) builder.add(head!, 'r', tail!);
    const graph = builder.build('line');
    const ids = (names: string) => Array.from(names, (name) => graph.entityId(name));
    expect(answerDistances(graph, ids('a'), ids('abcde?'), 3)).toEqual([0, 1, 2, 3, Infinity, Infinity]);
    expect(answerDistances(graph, ids('?c'), ids('d'), 3)).toEqual([1]);
  });
});
