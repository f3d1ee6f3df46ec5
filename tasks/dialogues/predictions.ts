/** Predictions of an agent, by name, as JSON lines or CSV. */
import { extname } from 'node:path';
import type { Answer } from '../../agents/agent.js';
import type { WalkSample } from '../../datasets/walk-sample.js';
import type { Attempt } from '../../evaluation/score.js';
import { canonicalPath, type Graph } from '../../src/kg/graph.js';
import { type ArkBeam, padEntity } from '../../src/metrics/ranks.js';
import { WorkbenchError } from '../../src/run/errors.js';
import { writeFileAtomic } from '../../src/run/files.js';
import { csvCell } from '../../src/run/printable.js';
import { namedPath } from './score.js';

/**
 * Collects all ranked paths, and writes them in the order of the samples. JSON lines: one sample a line, `{id, dialogue, sender, start, gold, paths: [{path, logProb}],
 * answers: [{entity, logProb, summedLogProb}], confidence}`, a path being [head, relation, tail] names; where LLM-ARK's beam was
 * kept, also `arkBeam: [{afterFirst, path}]`, what each of its slots held after the first step and after both. CSV: one path a line, `id,rank,log_prob,target,path,gold`, paths as JSON; a sample without paths has one line with rank 0.
 * @throws WorkbenchError `usage` for a name that ends in neither `.jsonl` nor `.csv`: call it before long work
 */
export function predictionsFile(file: string) {
  const kind = extname(file).toLowerCase();
  if (kind !== '.jsonl' && kind !== '.csv') {
    throw new WorkbenchError('usage', `expected a name that ends in .jsonl or .csv, got ${file}, at --predictions`);
  }
  const lines = new Map<string, string[]>();
  let order: readonly WalkSample[] = [];
  return {
    take(
      sample: WalkSample,
      attempt: Attempt<Answer> | undefined,
      { graph, samples }: { graph: Graph; samples: readonly WalkSample[] },
    ): void {
      order = samples;
      const linesOf = kind === '.csv' ? csvLines : jsonLines;
      lines.set(sample.task.id, linesOf(sample, attempt?.answer, graph));
    },
    write(): void {
      const header = kind === '.csv' ? ['id,rank,log_prob,target,path,gold'] : [];
      const all = [...header, ...order.flatMap(({ task }) => lines.get(task.id) ?? [])];
      writeFileAtomic(file, all.map((line) => `${line}\n`).join(''));
    },
  };
}

const jsonLines = ({ task, gold }: WalkSample, answer: Answer | undefined, graph: Graph): string[] => [
  JSON.stringify({
    id: task.id,
    dialogue: task.dialogueId,
    sender: task.sender,
    start: task.startName,
    gold: namedPath(gold.path, graph),
    paths: answer?.paths.map(({ path, logProb }) => ({ path: namedPath(path, graph), logProb })) ?? [],
    answers: answer?.answers.map((ranked) => ({ ...ranked, entity: graph.entityNames[ranked.entity] })) ?? [],
    confidence: answer?.confidence,
    arkBeam: answer?.arkBeam && namedSlots(answer.arkBeam, graph),
  }),
];

/** Slots that held a walk; the stay that ends a walk of one edge is left out, as in all paths. */
function namedSlots({ afterFirst, walks }: ArkBeam, graph: Graph) {
  const held = walks.filter((walk, slot) => walk || afterFirst[slot] !== padEntity);
  return held.map((walk, slot) => ({
    afterFirst: graph.entityNames[afterFirst[slot]!],
    path: walk && namedPath(canonicalPath(walk, graph.equalRelation), graph),
  }));
}

function csvLines({ task, gold }: WalkSample, answer: Answer | undefined, graph: Graph): string[] {
  const goldText = JSON.stringify(namedPath(gold.path, graph));
  const paths = answer?.paths ?? [];
  const rows = paths.map(({ path, logProb }, rank) => {
    const names = namedPath(path, graph);
    return [task.id, rank + 1, logProb, names.at(-1)?.[2] ?? task.startName, JSON.stringify(names), goldText];
  });
  return (rows.length > 0 ? rows : [[task.id, 0, '', '', '', goldText]]).map((row) => row.map(csvCell).join(','));
}
