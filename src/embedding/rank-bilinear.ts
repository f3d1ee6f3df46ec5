/** Filtered realistic ranks of a bilinear table, by the kernels. */
import type { TripleColumns } from '../kg/graph.js';
import { Arena } from '../simd/arena.js';
import { openKernels } from '../simd/kernels.js';
import { composeQuery, type BilinearTable } from './bilinear-table.js';
import { filteredRank } from './filtered-rank.js';
import type { KnownAnswers } from './known-answers.js';

/** Queries whose scores are taken in one call. */
const blockSize = 64;

/** Ranks as those of `linkRanks`: tails at even places, heads at odd ones, the latter asked through inverse relations. */
export function bilinearRanks(table: BilinearTable, triples: TripleColumns, known: KnownAnswers): Float64Array {
  const { dim, numEntities, numRelations } = table;
  const arena = new Arena();
  const kernels = openKernels(arena.memory);
  const entities = arena.float32(numEntities * dim);
  entities.set(table.entities);
  const queries = arena.float32(blockSize * dim);
  const scores = arena.float32(blockSize * numEntities);
  const panel = arena.float32(8 * dim + 32);
  const at = (array: ArrayBufferView) => array.byteOffset;
  const ranks = new Float64Array(triples.heads.length * 2);
  const { heads, relations, tails } = triples;
  for (let begin = 0; begin < ranks.length; begin += blockSize) {
    const size = Math.min(blockSize, ranks.length - begin);
    for (let i = 0; i < size; i++) {
      const t = (begin + i) >> 1;
      const inverse = (begin + i) % 2 === 1;
      const relation = relations[t]! + (inverse ? numRelations / 2 : 0);
      composeQuery(table, inverse ? tails[t]! : heads[t]!, relation, queries, i * dim);
    }
    kernels.matMul(at(queries), dim, 1, at(entities), 1, dim, at(scores), size, dim, numEntities, at(panel), 0);
    for (let i = 0; i < size; i++) {
      const t = (begin + i) >> 1;
      const inverse = (begin + i) % 2 === 1;
      const others = inverse ? known.headsOf(relations[t]!, tails[t]!) : known.tailsOf(heads[t]!, relations[t]!);
      const line = scores.subarray(i * numEntities, (i + 1) * numEntities);
      ranks[begin + i] = filteredRank(line, inverse ? heads[t]! : tails[t]!, others);
    }
  }
  return ranks;
}
