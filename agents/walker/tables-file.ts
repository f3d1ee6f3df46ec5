/** The frozen tables of a run on disk, so that loading a walker need not make them again. */
import { join } from 'node:path';
import { encodeSafetensors, readSafetensors, type Tensor } from '../../checkpoints/safetensors.js';
import { existsSync } from 'node:fs';
import { writeFileAtomic } from '../../src/run/files.js';
import { runFiles } from '../../src/run/run-folder.js';
import type { FrozenTables } from './frozen-tables.js';

function tablesFile(runFolder: string): string {
  return join(runFiles(runFolder).embeddings, 'walker-tables.safetensors');
}

export function writeTables(runFolder: string, { entities, entityDim, relations, relationDim }: FrozenTables): void {
  const tensors = new Map<string, Tensor>([
    ['entities', { shape: [entities.length / entityDim, entityDim], data: entities }],
    ['relations', { shape: [relations.length / relationDim, relationDim], data: relations }],
  ]);
  writeFileAtomic(tablesFile(runFolder), encodeSafetensors({ tensors, metadata: new Map() }));
}

/** The tables of a run, or undefined where it has none yet. @throws WorkbenchError `data` for a damaged file */
export function readTables(runFolder: string): FrozenTables | undefined {
  const file = tablesFile(runFolder);
  if (!existsSync(file)) return undefined;
  const { tensors } = readSafetensors(file);
  const entities = tensors.get('entities')!;
  const relations = tensors.get('relations')!;
  return {
    entities: entities.data as Float32Array,
    entityDim: entities.shape[1]!,
    relations: relations.data as Float32Array,
    relationDim: relations.shape[1]!,
  };
}
