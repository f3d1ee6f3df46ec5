/** The frozen vectors of entities and relations that a walker's network starts from. */
import { principalComponents, scaledToMeanNorm } from '../../src/embedding/principal-components.js';
import type { Graph } from '../../src/kg/graph.js';
import { WorkbenchError } from '../../src/run/errors.js';
import type { FrozenVectors } from './features/dialogue-scratch.js';
import type { WalkerSettings } from './settings.js';

/** One row a vector; never trained. */
export interface FrozenTables {
  /** float32 [numEntities, entityDim]. */
  entities: Float32Array;
  entityDim: number;
  /** float32 [numRelations, relationDim]. */
  relations: Float32Array;
  relationDim: number;
}

/** TransE vectors of the same graph. */
export interface EmbeddingVectors {
  dim: number;
  entities: Float32Array;
  relations: Float32Array;
}

/**
 * Composes the tables that the settings name.
 * @param texts unit text vectors of names, from the encoder
 * @param transe embeddings, where a setting asks for them
 */
export function frozenTables(
  graph: Graph,
  texts: FrozenVectors,
  transe: EmbeddingVectors | undefined,
  settings: WalkerSettings,
): FrozenTables {
  const needTranse = () => {
    if (transe) return transe;
    throw new WorkbenchError(
      'config',
      'expected TransE embeddings for walker.entityVectors or walker.relationVectors, got none',
      {
        hint: 'Set transe.enabled=true, or leave `transe` out of the walker.',
      },
    );
  };
  const parts = settings.entityVectors.map((part) => {
    if (part === 'name') return principalComponents(texts.entities, texts.dim, settings.componentDim);
    if (part === 'transe')
      return { rows: scaledToMeanNorm(needTranse().entities, needTranse().dim), dim: needTranse().dim };
    return principalComponents(relationSignatures(graph), graph.numRelations, settings.componentDim);
  });
  const fromTranse = settings.relationVectors === 'transe';
  return {
    entities: concatenate(graph.numEntities, parts),
    entityDim: parts.reduce((sum, part) => sum + part.dim, 0),
    relations: fromTranse ? scaledToMeanNorm(needTranse().relations, needTranse().dim) : texts.relations,
    relationDim: fromTranse ? needTranse().dim : texts.dim,
  };
}

/** ln(1 + edges of each relation) at each entity, float32 [numEntities, numRelations]: what kind of thing it is. */
function relationSignatures(graph: Graph): Float32Array {
  const signatures = new Float32Array(graph.numEntities * graph.numRelations);
  for (let entity = 0; entity < graph.numEntities; entity++) {
    const begin = entity * graph.numRelations;
    for (let edge = graph.offsets[entity]!; edge < graph.offsets[entity + 1]!; edge++)
      signatures[begin + graph.relations[edge]!]!++;
    for (let i = begin; i < begin + graph.numRelations; i++)
      if (signatures[i]! > 0) signatures[i] = Math.log1p(signatures[i]!);
  }
  return signatures;
}

function concatenate(numRows: number, parts: { rows: Float32Array; dim: number }[]): Float32Array {
  const width = parts.reduce((sum, part) => sum + part.dim, 0);
  const table = new Float32Array(numRows * width);
  let column = 0;
  for (const { rows, dim } of parts) {
    for (let r = 0; r < numRows; r++) table.set(rows.subarray(r * dim, (r + 1) * dim), r * width + column);
    column += dim;
  }
  return table;
}
