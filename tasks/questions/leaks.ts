/** Provenance of a run over questions or of an evaluation, and scores on answers that train lacks. */
import type { QuestionSample } from '../../datasets/question.js';
import { loadQuestionDataset } from '../../datasets/questions/question-dataset.js';
import type { HoldOut } from '../../datasets/questions/question-manifest.js';
import { dataSettings } from '../../datasets/settings.js';
import { foundEvaluation, readEvaluation } from '../../evaluation/keep.js';
import { entitiesOf } from '../../evaluation/leaks/leak-report.js';
import { knownQuestions, type KnownSamples } from '../../evaluation/leaks/known-samples.js';
import {
  checkDataset,
  checkGraph,
  encoderDoubt,
  leakCheck,
  notedEvaluation,
  notedEvaluations,
  notedRun,
  targetsOf,
} from '../leaks.js';
import type { CheckedRun, LeakCheck } from '../task.js';
import type { QuestionRow } from './row.js';
import { questionFigures, questionMeasure } from './score.js';

const metric = questionFigures[0]!.key;

/** @throws WorkbenchError `data` for damaged data or another import, `usage` for another data set or no such split */
export async function runLeaks(name: string, of: CheckedRun, split = 'test'): Promise<LeakCheck> {
  const { run } = of;
  const data = dataSettings.parse(run.config.data ?? {});
  checkDataset(name, data.dataset, `run ${run.id}`);
  const opened = await openKnown(name, data.subsets === 'all' ? undefined : data.subsets, data.holdOut, split);
  checkGraph(opened.known.graph.hash, run);
  const { agents, targets } = notedEvaluations(of, questionMeasure, {
    ...{ dataset: name, split: opened.known.asked.name, metric },
    seen: seenAnswers(opened.known),
  });
  return leakCheck(name, {
    ...opened,
    title: `run ${run.id}`,
    agents: [notedRun(run), ...agents],
    expected: ['edge list', ...trainingsOf(run.state.done)],
    targets,
    cannotExclude: encoderDoubt(run.environment.hashes.encoder),
  });
}

/** @param split default that of the evaluation */
export async function evaluationLeaks(name: string, evaluation: string, split: string | undefined): Promise<LeakCheck> {
  const { folder, agent, run, trained, about, hashes, title, agents } = notedEvaluation(name, evaluation);
  const opened = await openKnown(name, about.subsets as string[], about.holdOut as HoldOut, split ?? about.split);
  const model = about.simulated
    ? [`nothing of the answers: ${about.model} is simulated and knows the golds`]
    : about.model === undefined
      ? []
      : [`what the language model (${about.model}) was trained on: it may have read these questions`];
  const asksIt = foundEvaluation(folder) !== undefined && about.split === opened.known.asked.name;
  const seen = seenAnswers(opened.known);
  return leakCheck(name, {
    ...opened,
    ...{ title, agents },
    expected: run === undefined ? [] : ['edge list', ...(trained ? trainingsOf(trained.state.done) : [])],
    targets: asksIt ? [targetsOf(agent, readEvaluation(folder, questionMeasure), questionMeasure, metric, seen)] : [],
    cannotExclude: [...model, ...encoderDoubt(hashes.encoder)],
  });
}

function trainingsOf({ clone, fit, ppo }: CheckedRun['run']['state']['done']): string[] {
  return [...(clone ? ['cloning'] : []), ...(fit ? ['fitting'] : []), ...(ppo ? ['PPO'] : [])].map(
    (name) => `training: ${name}`,
  );
}

/** All subsets of the graph: agents learn from their train parts too. */
async function openKnown(name: string, wanted: readonly string[] | undefined, holdOut: HoldOut, split: string) {
  const dataset = loadQuestionDataset(name);
  const { subsets: bySubset, graphs } = dataset.manifest;
  const graph = await dataset.loadGraph(wanted);
  const subsets = dataset.subsets.filter((subset) => bySubset[subset]!.graph === graph.name);
  const known = knownQuestions(dataset, { graph, subsets, holdOut }, split);
  return { known, note: graphs[graph.name]!.note, chosen: false };
}

/** An answer is seen where train has any right one, as an answer or a topic. */
function seenAnswers({ splits, asked }: KnownSamples<QuestionSample>): (row: QuestionRow) => boolean | undefined {
  const train = entitiesOf(splits.flatMap(({ role, samples }) => (role === 'train' ? samples : [])));
  const goldOf = new Map(asked.samples.map(({ task, gold }) => [task.id, gold]));
  return ({ id }) => {
    const answers = goldOf.get(id)?.answers.filter(({ entity }) => entity >= 0) ?? [];
    return answers.length === 0 ? undefined : answers.some(({ entity }) => train.has(entity));
  };
}
