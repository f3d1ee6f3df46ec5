/** Provenance of a run over dialogues or of an evaluation, and scores on targets that train lacks. */
import { linkedTurnsOf } from '../../agents/dialogue-walker/linked-turns.js';
import { walkerRunSettings } from '../../agents/dialogue-walker/walker-parts.js';
import { type DialogueDataset, loadDialogueDataset } from '../../datasets/dialogues/dialogue-dataset.js';
import { dataSettings } from '../../datasets/settings.js';
import { splitSamples, type WalkSample } from '../../datasets/walk-sample.js';
import { foundEvaluation, readEvaluation } from '../../evaluation/keep.js';
import { knownDialogues } from '../../evaluation/leaks/known-samples.js';
import type { Graph } from '../../src/kg/graph.js';
import type { RunInfo } from '../../src/run/records.js';
import {
  checkDataset,
  checkGraph,
  encoderDoubt,
  leakCheck,
  notedEvaluation,
  notedEvaluations,
  notedRun,
  otherGraph,
  targetsOf,
} from '../leaks.js';
import type { CheckedRun, LeakCheck } from '../task.js';
import { dialogueFigures, dialogueMeasure } from './score.js';

const [main] = dialogueFigures([1]);

/** @throws WorkbenchError `data` for damaged data or another import, `usage` for another data set or no such split */
export async function runLeaks(name: string, of: CheckedRun, split = 'test'): Promise<LeakCheck> {
  const { run } = of;
  const data = dataSettings.parse(run.config.data ?? {});
  checkDataset(name, data.dataset, `run ${run.id}`);
  const dataset = loadDialogueDataset(name);
  const graph = await dataset.loadGraph(data.graph);
  checkGraph(graph.hash, run);
  const { agents, targets } = notedEvaluations(of, dialogueMeasure, {
    ...{ dataset: name, split, metric: main!.key },
    seen: ({ seen }) => seen,
  });
  return leakCheck(name, {
    title: `run ${run.id}`,
    note: dataset.manifest.graphs[data.graph]!.note,
    known: knownDialogues(dataset, graph, split, linkedOf(run, dataset, graph)),
    chosen: dataset.manifest.generated === undefined,
    agents: [notedRun(run), ...agents],
    expected: expectedOf(run),
    targets,
    cannotExclude: encoderDoubt(run.environment.hashes.encoder),
  });
}

/** @param split default that of the evaluation */
export async function evaluationLeaks(name: string, folder: string, wanted: string | undefined): Promise<LeakCheck> {
  const { title, agents, members, trained, agent, about, hashes } = notedEvaluation(name, folder);
  const split = wanted ?? about.split;
  const dataset = loadDialogueDataset(name);
  const graph = await dataset.loadGraph(about.graph!);
  if (hashes.graph !== graph.hash) throw otherGraph(title, hashes.graph, graph.hash);
  const asksIt = foundEvaluation(folder) !== undefined && about.split === split;
  const linked = members.flatMap((run) => linkedOf(run, dataset, graph));
  return leakCheck(name, {
    title,
    note: dataset.manifest.graphs[graph.name]!.note,
    known: knownDialogues(dataset, graph, split, linked),
    ...{ chosen: dataset.manifest.generated === undefined, agents, expected: trained ? expectedOf(trained) : [] },
    targets: asksIt
      ? [targetsOf(agent, readEvaluation(folder, dialogueMeasure), dialogueMeasure, main!.key, ({ seen }) => seen)]
      : [],
    cannotExclude: [
      ...(about.model === undefined ? [] : [`what the language model (${about.model}) was trained on`]),
      ...encoderDoubt(hashes.encoder),
    ],
  });
}

/** The linked turns that a run was cloned on, made again as it made them. */
function linkedOf({ config }: RunInfo, dataset: DialogueDataset, graph: Graph): readonly WalkSample[] {
  const { data, clone } = linkedSettings.parse(config);
  if (!clone.linkedTurns) return [];
  const train = splitSamples(dataset, graph, data, 'train');
  return linkedTurnsOf(dataset, graph, train, data, clone.linkedTurns)!.samples;
}

const linkedSettings = walkerRunSettings.pick({ data: true, clone: true });

function expectedOf({ config, state: { done } }: RunInfo): string[] {
  const { ppo } = config as { ppo?: { gradient?: string; init?: string } };
  return [
    'edge list',
    ...(done.transe ? ['embedding: TransE'] : []),
    ...(done.clone || (done.ppo && ppo?.init === 'clone') ? ['training: cloning'] : []),
    ...(done.ppo ? [`training: ${ppo?.gradient === 'exact' ? 'policy gradient' : 'PPO'}`] : []),
  ];
}
