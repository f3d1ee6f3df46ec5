/** The frozen vectors of entities and relations that a walker's network starts from. */
import type { Graph } from '../../src/kg/graph.js';
import { WorkbenchError } from '../../src/run/errors.js';
import { madeFrom } from '../../src/run/provenance.js';
import type { Tf } from '../../src/tensor/backend.js';
import { principalComponents, scaledToMeanNorm } from '../../src/tensor/principal-components.js';
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

/** Whether a network of these settings reads frozen vectors: in its states, or of edges. */
export function readsTables({ entityInit, pathAware, placeVectors }: WalkerSettings): boolean {
  return entityInit === 'frozen' && (pathAware || placeVectors);
}

/** Vectors of no width: of a network that reads none. */
export const noTables: FrozenTables = {
  entities: new Float32Array(0),
  entityDim: 0,
  relations: new Float32Array(0),
  relationDim: 0,
};

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
export async function frozenTables(
  tf: Tf,
  graph: Graph,
  texts: FrozenVectors,
  transe: EmbeddingVectors | undefined,
  settings: WalkerSettings,
): Promise<FrozenTables> {
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
  const partOf = (part: WalkerSettings['entityVectors'][number]) => {
    if (part !== 'transe') madeFrom('normaliser', `principal components (${part})`, { entities: graph.numEntities });
    if (part === 'name') {
      const rows = (begin: number, end: number) => texts.entities.subarray(begin * texts.dim, end * texts.dim);
      return principalComponents(tf, rows, graph.numEntities, texts.dim, settings.componentDim);
    }
    if (part === 'transe')
      return { rows: scaledToMeanNorm(needTranse().entities, needTranse().dim), dim: needTranse().dim };
    const signatures = (begin: number, end: number) => relationSignatures(graph, begin, end);
    return principalComponents(tf, signatures, graph.numEntities, graph.numRelations, settings.componentDim);
  };
  const parts: { rows: Float32Array; dim: number }[] = [];
  for (const part of settings.entityVectors) parts.push(await partOf(part));
  const fromTranse = settings.relationVectors === 'transe';
  return {
    entities: concatenate(graph.numEntities, parts),
    entityDim: parts.reduce((sum, part) => sum + part.dim, 0),
    relations: fromTranse ? scaledToMeanNorm(needTranse().relations, needTranse().dim) : texts.relations,
    relationDim: fromTranse ? needTranse().dim : texts.dim,
  };
}

/** ln(1 + edges of each relation) at entities `begin .. end - 1`, float32 [end - begin, numRelations]: what kind of thing each is. */
function relationSignatures(graph: Graph, begin: number, end: number): Float32Array {
  const signatures = new Float32Array((end - begin) * graph.numRelations);
  for (let entity = begin; entity < end; entity++) {
    const row = (entity - begin) * graph.numRelations;
    for (let edge = graph.offsets[entity]!; edge < graph.offsets[entity + 1]!; edge++) {
      signatures[row + graph.relations[edge]!]!++;
    }
  }
  return signatures.map((count) => (count === 0 ? 0 : Math.log1p(count)));
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
