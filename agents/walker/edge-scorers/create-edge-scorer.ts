/** Which edge scorer the settings name. */
import { WorkbenchError } from '../../../src/run/errors.js';
import type { Tf } from '../../../src/tensor/backend.js';
import { roundedToBfloat16 } from '../../../src/tensor/ops.js';
import type { FrozenTables } from '../frozen-tables.js';
import type { HeadShape } from '../head.js';
import type { WalkerSettings } from '../settings.js';
import type { MakeEdgeScorer } from './edge-scorer.js';
import { slots } from './slots.js';
import { frozenVectors, trainedVectors } from './vector-dots.js';

/**
 * @param shape its tables with a row for every relation that edges have
 * @throws WorkbenchError `failure` for slots without their number
 */
export function edgeScorerOf(tf: Tf, settings: WalkerSettings, shape: HeadShape): MakeEdgeScorer {
  const { numEntities, numRelations, tables, maxActions } = shape;
  if (!settings.pathAware) {
    if (maxActions !== undefined) return slots(tf, { count: maxActions, equalRelation: numRelations });
    throw new WorkbenchError('failure', 'expected the number of slots with pathAware=false, got none, at edgeScorerOf');
  }
  const { entityInit, precision } = settings;
  if (entityInit === 'frozen') return frozenVectors(tf, precision === 'bf16' ? roundedTables(tables) : tables);
  // Staying is a relation of its own here, as in the reference.
  return trainedVectors(tf, { numEntities, numRelations: numRelations + 1, dim: settings.componentDim, precision });
}

function roundedTables({ entities, relations, ...dims }: FrozenTables): FrozenTables {
  return { ...dims, entities: roundedToBfloat16(entities), relations: roundedToBfloat16(relations) };
}
