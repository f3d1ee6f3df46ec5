/** The full record of the best checkpoint on valid, by the same harness that evaluates every agent. */
import { join } from 'node:path';
import { readCheckpoint } from '../../checkpoints/checkpoint.js';
import { resolveCheckpoint } from '../../checkpoints/store.js';
import { evaluateQuestions } from '../../evaluation/questions/evaluate-questions.js';
import { evaluationFiles } from '../../evaluation/questions/evaluation-folder.js';
import { saveQuestionEvaluation } from '../../evaluation/questions/save-question-evaluation.js';
import { sha256File } from '../../src/run/files.js';
import type { Session } from '../session.js';
import type { TrainingQuestions } from './load-questions.js';
import type { OpenedWalk } from './walk.js';

/** Evaluates the best checkpoint on all of valid and writes `evaluations/valid-best/`. */
export async function evaluateBestOnValid(
  session: Session,
  { agentOf }: Pick<OpenedWalk<unknown, never>, 'agentOf'>,
  { dataset, subsets, graph, valid: samples }: TrainingQuestions,
): Promise<void> {
  const { run, settings, encoder, hashes, signal } = session;
  const { file } = resolveCheckpoint(run.folder, 'best');
  const agent = agentOf(readCheckpoint(file).tensors);
  const split = dataset.split({ split: 'valid', holdOut: settings.data.holdOut });
  const line = session.progress('evaluate the best on valid', samples.length, 'questions');
  const checkpoint = await sha256File(file);
  let done = 0;
  const evaluation = await evaluateQuestions(agent, samples, {
    graph,
    about: {
      dataset: settings.data.dataset,
      graph: graph.name,
      subsets,
      split: split.name,
      holdOut: split.holdOut,
      seed: settings.seed,
      simulated: false,
      budget: null,
      budgetMode: 'strict',
      switches: {},
      topicGiven: true,
    },
    hashes: { dataset: hashes.dataset!, encoder: encoder.id, checkpoint },
    onRow: () => line.update(++done),
    signal,
  });
  line.finish();
  await saveQuestionEvaluation(evaluationFiles(join(run.files.evaluations, 'valid-best')), evaluation);
}
