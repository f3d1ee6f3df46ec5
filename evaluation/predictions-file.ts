/** What an agent predicted, by name, as JSON lines or CSV. */
import { extname } from 'node:path';
import type { Answer } from '../agents/agent.js';
import type { WalkSample } from '../datasets/walk-sample.js';
import { canonicalPath, type Graph } from '../src/kg/graph.js';
import { padEntity, type ArkBeam } from '../src/metrics/ark-ranks.js';
import { csvCell } from '../src/run/printable.js';
import { WorkbenchError } from '../src/run/errors.js';
import { writeFileAtomic } from '../src/run/files.js';
import { namedPath } from './example-walks.js';

/** Samples with an agent's answers, in the same order. */
export interface Predictions {
  samples: readonly WalkSample[];
  /** One a sample; absent where there is none. */
  answers: readonly (Answer | undefined)[];
  graph: Graph;
}

/** @throws WorkbenchError `usage` for a name that ends in neither `.jsonl` nor `.csv`; call it before long work */
export function checkPredictionsName(file: string): void {
  if (!['.jsonl', '.csv'].includes(extname(file).toLowerCase())) {
    throw new WorkbenchError('usage', `expected a name that ends in .jsonl or .csv, got ${file}, at --predictions`);
  }
}

/**
 * Writes all ranked paths. JSON lines: one sample a line, `{id, dialogue, sender, start, gold, paths: [{path, logProb}],
 * answers: [{entity, logProb, summedLogProb}], confidence}`, a path being [head, relation, tail] names; where LLM-ARK's beam was
 * kept, also `arkBeam: [{afterFirst, path}]`, what each of its slots held after the first step and after both. CSV: one path a line, `id,rank,log_prob,target,path,gold`, paths as JSON; a sample without paths has one line with rank 0.
 */
export function writePredictions(file: string, predictions: Predictions): void {
  checkPredictionsName(file);
  const lines = extname(file).toLowerCase() === '.csv' ? csvLines(predictions) : jsonLines(predictions);
  writeFileAtomic(file, lines.map((line) => `${line}\n`).join(''));
}

function jsonLines({ samples, answers, graph }: Predictions): string[] {
  return samples.map(({ task, gold }, i) => {
    const answer = answers[i];
    return JSON.stringify({
      id: task.id,
      dialogue: task.dialogueId,
      sender: task.sender,
      start: task.startName,
      gold: namedPath(gold.path, graph),
      paths: answer?.paths.map(({ path, logProb }) => ({ path: namedPath(path, graph), logProb })) ?? [],
      answers: answer?.answers.map((ranked) => ({ ...ranked, entity: graph.entityNames[ranked.entity] })) ?? [],
      confidence: answer?.confidence,
      arkBeam: answer?.arkBeam && namedSlots(answer.arkBeam, graph),
    });
  });
}

/** Slots that held a walk; the stay that ends a walk of one edge is left out, as in all paths. */
function namedSlots({ afterFirst, walks }: ArkBeam, graph: Graph) {
  const held = walks.filter((walk, slot) => walk || afterFirst[slot] !== padEntity);
  return held.map((walk, slot) => ({
    afterFirst: graph.entityNames[afterFirst[slot]!],
    path: walk && namedPath(canonicalPath(walk, graph.equalRelation), graph),
  }));
}

function csvLines({ samples, answers, graph }: Predictions): string[] {
  const rows = samples.flatMap(({ task, gold }, i) => {
    const goldText = JSON.stringify(namedPath(gold.path, graph));
    const paths = answers[i]?.paths ?? [];
    if (paths.length === 0) return [[task.id, 0, '', '', '', goldText]];
    return paths.map(({ path, logProb }, rank) => {
      const names = namedPath(path, graph);
      return [task.id, rank + 1, logProb, names.at(-1)?.[2] ?? task.startName, JSON.stringify(names), goldText];
    });
  });
  return [['id', 'rank', 'log_prob', 'target', 'path', 'gold'], ...rows].map((row) => row.map(csvCell).join(','));
}
