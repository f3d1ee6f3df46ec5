/** What a run over dialogues noted, and how its evaluations fared on targets that train never had. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { loadDialogueDataset } from '../../datasets/dialogues/dialogue-dataset.js';
import { dataSettings } from '../../datasets/settings.js';
import type { NotedAgent } from '../../evaluation/leaks/leak-report.js';
import { knownDialogues } from '../../evaluation/leaks/known-samples.js';
import { seenUnseen, type SeenUnseen } from '../../evaluation/leaks/seen-unseen.js';
import { readTargetRows } from '../../evaluation/rows-file.js';
import { evaluationProvenance } from '../../evaluation/save-evaluation.js';
import { evaluationRecord } from '../../src/run/evaluation-schemas.js';
import { readProvenance } from '../../src/run/provenance.js';
import { readJsonFile } from '../../src/run/read-json.js';
import type { EvaluationRecord, RunInfo } from '../../src/run/records.js';
import { runFiles } from '../../src/run/run-folder.js';
import { checkDataset, checkGraph, encoderDoubt, type Checked } from './checked.js';

/** @throws WorkbenchError `data` for what is damaged or was imported anew, `usage` for another data set or no such split */
export async function checkedDialogueRun(name: string, run: RunInfo, split: string): Promise<Checked> {
  const data = dataSettings.parse(run.config.data ?? {});
  checkDataset(name, data.dataset, `run ${run.id}`);
  const dataset = loadDialogueDataset(name);
  const graph = await dataset.loadGraph(data.graph);
  checkGraph(graph.hash, run);
  const files = runFiles(run.folder);
  const agents: NotedAgent[] = [{ of: 'run', own: true, record: readProvenance(files.provenance) }];
  const targets: SeenUnseen[] = [];
  for (const [evaluation, record] of evaluationsIn(files.evaluations)) {
    if (record.dataset !== name || record.split !== split) continue;
    const noted = readProvenance(evaluationProvenance(files.evaluations, evaluation));
    // Evaluated while it was trained, an agent is the run itself.
    if (noted) agents.push({ of: evaluation, own: record.checkpoint !== undefined, record: noted });
    else if (record.checkpoint !== undefined)
      agents.push({ of: evaluation, own: true, record: { schemaVersion: 1, sets: {}, artifacts: [] } });
    const rows = await readTargetRows(join(files.evaluations, `${evaluation}.arrow`));
    const scored = rows.map(({ dialogue, seen, path }) => ({ cluster: dialogue, seen, score: Number(path === 1) }));
    targets.push(seenUnseen({ evaluation, agent: record.agent, metric: 'path@1' }, scored));
  }
  return {
    title: `run ${run.id}`,
    note: dataset.manifest.graphs[data.graph]!.note,
    known: knownDialogues(dataset, graph, split),
    chosen: dataset.manifest.generated === undefined,
    agents,
    expected: expectedOf(run),
    targets,
    cannotExclude: encoderDoubt(run.environment.hashes.encoder),
  };
}

/** Records of a run's evaluations of dialogues, by name. */
function evaluationsIn(folder: string): [string, EvaluationRecord][] {
  const names = existsSync(folder) ? readdirSync(folder).sort() : [];
  return names
    .filter((file) => file.endsWith('.json'))
    .map((file) => [
      file.slice(0, -'.json'.length),
      readJsonFile(join(folder, file), evaluationRecord, 'an evaluation'),
    ]);
}

/** What the phases that are done have made. */
function expectedOf({ config, state: { done } }: RunInfo): string[] {
  const { ppo } = config as { ppo?: { gradient?: string; init?: string } };
  return [
    'edge list',
    ...(done.transe ? ['embedding: TransE'] : []),
    ...(done.clone || (done.ppo && ppo?.init === 'clone') ? ['training: cloning'] : []),
    ...(done.ppo ? [`training: ${ppo?.gradient === 'exact' ? 'policy gradient' : 'PPO'}`] : []),
  ];
}
