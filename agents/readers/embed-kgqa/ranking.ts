/** Answers of EmbedKGQA: entities by their score, with what relation matching adds. */
import { type BilinearTable, composeQuery } from '../../../src/embedding/bilinear.js';
import type { Graph } from '../../../src/kg/graph.js';
import type { Kernels } from '../../../src/nn/simd/kernels.js';
import type { Arena } from '../../../src/nn/simd/arena.js';
import type { ReaderSettings } from '../settings.js';
import { mostMatched, ShortestRelations } from './shortest-relations.js';

/**
 * Prepares the buffers for one question at a time.
 * @param table in the arena of the kernels
 * @param horizon edges that are walked from the topic
 * @returns ranks the candidates of a question by its relation vector and its logits of relations, float32 [numRelations], empty without
 *   matching: the likeliest first, their share of the probability of all candidates, and the relations that it seems to ask for
 */
export function answerRanking(
  table: BilinearTable,
  graph: Graph,
  { candidates, matching, keep }: Pick<ReaderSettings, 'candidates' | 'matching' | 'keep'>,
  horizon: number,
  arena: Arena,
  kernels: Kernels,
) {
  const { dim, numEntities, entities } = table;
  const query = arena.float32(dim);
  const scores = arena.float32(numEntities);
  // One query: products of rows as they lie are some times faster than those of matrices, which lay them out first.
  const first = arena.int32(numEntities);
  const each = arena.int32(numEntities);
  each.forEach((_, entity) => (each[entity] = entity));
  const around = new ShortestRelations(graph);
  return (vector: Float32Array, relations: Float32Array, topic: number, excluded: readonly number[]) => {
    composeQuery({ ...table, numRelations: 1, relations: vector }, topic, 0, query, 0);
    scores.fill(0);
    kernels.addDots(
      ...([scores.byteOffset, query.byteOffset, dim, first.byteOffset, entities.byteOffset] as const),
      ...([each.byteOffset, dim, numEntities, 1] as const),
    );
    const wanted = matching > 0 ? wantedRelations(relations) : [];
    let ranked = scores;
    if (candidates === 'reach' || matching > 0) {
      const reached = around.reached(topic, horizon, wanted);
      if (candidates === 'reach') ranked = new Float32Array(numEntities).fill(-Infinity);
      reached.entities.forEach((entity, i) => {
        ranked[entity] = scores[entity]! + matching * reached.matches[i]!;
      });
    }
    for (const entity of excluded) ranked[entity] = -Infinity;
    return { ...likeliest(ranked, keep), wanted };
  };
}

/** Those more likely than not, surest first; at most `mostMatched`. @param logits of relations */
export function wantedRelations(logits: Float32Array): number[] {
  return Array.from(logits.keys())
    .filter((relation) => logits[relation]! > 0)
    .sort((a, b) => logits[b]! - logits[a]! || a - b)
    .slice(0, mostMatched);
}

/** Those with at least `keep` times the probability of the first, which is softmax of the scores; equal ones by their ids. */
function likeliest(scores: Float32Array, keep: number): { entities: number[]; confidence: number } {
  let highest = -Infinity;
  for (let entity = 0; entity < scores.length; entity++) if (scores[entity]! > highest) highest = scores[entity]!;
  if (highest === -Infinity) return { entities: [], confidence: 0 };
  const least = highest + Math.log(keep);
  const entities: number[] = [];
  let all = 0;
  let kept = 0;
  for (let entity = 0; entity < scores.length; entity++) {
    const odds = Math.exp(scores[entity]! - highest);
    all += odds;
    if (scores[entity]! < least) continue;
    kept += odds;
    entities.push(entity);
  }
  entities.sort((a, b) => scores[b]! - scores[a]! || a - b);
  return { entities: keep === 1 ? entities.slice(0, 1) : entities, confidence: kept / all };
}
