/** What a run over questions, or an evaluation of them, noted, and how it fared on answers that train never had. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { QuestionSample } from '../../datasets/question.js';
import type { HoldOut } from '../../datasets/questions/question-manifest.js';
import { loadQuestionDataset } from '../../datasets/questions/question-dataset.js';
import { dataSettings } from '../../datasets/settings.js';
import { entitiesOf } from '../../evaluation/leaks/graph-cut.js';
import { knownQuestions, type KnownSamples } from '../../evaluation/leaks/known-samples.js';
import type { NotedAgent } from '../../evaluation/leaks/leak-report.js';
import { seenUnseen, type SeenUnseen } from '../../evaluation/leaks/seen-unseen.js';
import { evaluationFiles, readAsked } from '../../evaluation/questions/evaluation-folder.js';
import { questionEvaluationRecord, questionRow } from '../../src/run/evaluation-schemas.js';
import { readJsonLines } from '../../src/run/json-lines.js';
import { readProvenance } from '../../src/run/provenance.js';
import { readJsonFile } from '../../src/run/read-json.js';
import type { RunInfo } from '../../src/run/records.js';
import { runFiles } from '../../src/run/run-folder.js';
import { findRun } from '../kind-of-work.js';
import { checkDataset, checkGraph, encoderDoubt, type Checked } from './checked.js';

/** @throws WorkbenchError `data` for what is damaged or was imported anew, `usage` for another data set or no such split */
export async function checkedQuestionRun(name: string, run: RunInfo, split: string): Promise<Checked> {
  const data = dataSettings.parse(run.config.data ?? {});
  checkDataset(name, data.dataset, `run ${run.id}`);
  const opened = await openKnown(name, data.subsets === 'all' ? undefined : data.subsets, data.holdOut, split);
  checkGraph(opened.known.graph.hash, run);
  const files = runFiles(run.folder);
  const folders = existsSync(files.evaluations) ? readdirSync(files.evaluations).sort() : [];
  return {
    ...opened,
    title: `run ${run.id}`,
    agents: [{ of: 'run', own: true, record: readProvenance(files.provenance) }],
    expected: ['edge list', ...(run.state.done.ppo ? ['training: PPO'] : [])],
    targets: folders.flatMap((one) => targetsOf(join(files.evaluations, one), one, opened.known)),
    cannotExclude: encoderDoubt(run.environment.hashes.encoder),
  };
}

/** @param split default that of the evaluation */
export async function checkedEvaluation(
  name: string,
  evaluation: string,
  split: string | undefined,
  root: string | undefined,
): Promise<Checked> {
  const { folder, agent, run, about, hashes } = readAsked(evaluation, root);
  checkDataset(name, about.dataset, 'the evaluation');
  const opened = await openKnown(name, about.subsets, about.holdOut as HoldOut, split ?? about.split);
  const trained = run === undefined ? undefined : findRun(run)?.run;
  const agents: NotedAgent[] = [{ of: agent, own: true, record: readProvenance(evaluationFiles(folder).provenance) }];
  if (run !== undefined) {
    agents.push({ of: 'run', own: true, record: trained && readProvenance(runFiles(trained.folder).provenance) });
  }
  const model = about.simulated
    ? [`nothing of the answers: ${about.model} is simulated and knows the golds`]
    : about.model === undefined
      ? []
      : [`what the language model (${about.model}) was trained on: it may have read these questions`];
  return {
    ...opened,
    title: `evaluation of ${agent}`,
    agents,
    expected: run === undefined ? [] : ['edge list', 'training: PPO'],
    targets: targetsOf(folder, agent, opened.known),
    cannotExclude: [...model, ...encoderDoubt(hashes.encoder)],
  };
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
function targetsOf(folder: string, name: string, { splits, asked }: KnownSamples<QuestionSample>): SeenUnseen[] {
  const files = evaluationFiles(folder);
  if (!existsSync(files.evaluation)) return [];
  const record = readJsonFile(files.evaluation, questionEvaluationRecord, 'an evaluation of questions');
  if (record.split !== asked.name) return [];
  const train = entitiesOf(splits.flatMap(({ role, samples }) => (role === 'train' ? samples : [])));
  const goldOf = new Map(asked.samples.map(({ task, gold }) => [task.id, gold]));
  const scored = readJsonLines(files.answers, questionRow).flatMap(({ id, metrics }) => {
    const answers = goldOf.get(id)?.answers.filter(({ entity }) => entity >= 0) ?? [];
    const score = metrics['hit@1'];
    if (score === undefined || answers.length === 0) return [];
    return [{ cluster: id, seen: answers.some(({ entity }) => train.has(entity)), score }];
  });
  return [seenUnseen({ evaluation: name, agent: record.agent, metric: 'hit@1' }, scored)];
}
