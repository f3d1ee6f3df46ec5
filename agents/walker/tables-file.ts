/** The frozen tables of a run on disk, so that loading a walker need not make them again. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { encodeSafetensors, readSafetensors, type Tensor } from '../../checkpoints/safetensors.js';
import { WorkbenchError } from '../../src/run/errors.js';
import { writeFileAtomic } from '../../src/run/files.js';
import { runFiles } from '../../src/run/run-folder.js';
import type { FrozenTables } from './frozen-tables.js';

function tablesFile(runFolder: string): string {
  return join(runFiles(runFolder).embeddings, 'walker-tables.safetensors');
}

/** Writes the tables into the run, atomically; nothing for tables of no width, which no network reads. */
export function writeTables(runFolder: string, { entities, entityDim, relations, relationDim }: FrozenTables): void {
  if (entityDim + relationDim === 0) return;
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
  const table = (name: string) => {
    const tensor = tensors.get(name);
    if (tensor?.data instanceof Float32Array && tensor.shape.length === 2) {
      return { data: tensor.data, dim: tensor.shape[1]! };
    }
    throw new WorkbenchError('data', `expected a float32 table ${name}, got none, at ${file}`, {
      hint: 'The file is damaged; once it is deleted, tables that need no TransE are made again.',
    });
  };
  const entities = table('entities');
  const relations = table('relations');
  return {
    entities: entities.data,
    entityDim: entities.dim,
    relations: relations.data,
    relationDim: relations.dim,
  };
}
