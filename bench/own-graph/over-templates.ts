/**
 * Prints Hit@1 as the mean of several evaluations of the same questions, with 95 % intervals that resample questions, templates (texts with the
 * topic masked) and chains: questions of one template fail together.
 *   node dist/bench/own-graph/over-templates.js EVALUATION…
 */
import { maskedQuestion } from '../../datasets/question.js';
import { loadQuestionDataset } from '../../datasets/questions/question-dataset.js';
import { readEvaluation } from '../../evaluation/keep.js';
import { bootstrapMeans } from '../../src/metrics/bootstrap.js';
import { intervalText } from '../../src/run/figures.js';
import { questionMeasure } from '../../tasks/questions/score.js';

const valueOf = questionMeasure.valueOf('hit@1');
const all = process.argv.slice(2).map((folder) => readEvaluation(folder, questionMeasure));
const { dataset: name, split } = all[0]!.record;
const dataset = loadQuestionDataset(name);
const samples = dataset.questions(await dataset.loadGraph(), { split: split as 'test' });
const byId = new Map(samples.map((sample) => [sample.task.id, sample]));
const [first] = all.map(({ rows }) => rows);
const hits = first!.map(({ id }, i) => {
  const same = all.map(({ rows }) => rows[i]!);
  if (same.some((row) => row.id !== id))
    throw new Error(`expected evaluations of the same questions, got others than ${id}`);
  return same.reduce((sum, row) => sum + valueOf(row)!, 0) / same.length;
});
const by = {
  questions: ({ id }: { id: string }) => id,
  templates: ({ id }: { id: string }) => maskedQuestion(byId.get(id)!.task),
  chains: ({ id }: { id: string }) => String(byId.get(id)!.gold.chains[0]),
};
for (const [what, of] of Object.entries(by)) {
  const clusters = first!.map(of);
  const [estimate] = bootstrapMeans([hits], clusters);
  console.log(`${intervalText(estimate)} over ${new Set(clusters).size} ${what}`);
}
