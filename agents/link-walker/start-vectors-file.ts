/** The pretrained vectors of a run whose walker does not train them: its checkpoints do not hold them. */
import { join } from 'node:path';
import { encodeSafetensors, readSafetensors, type Tensor } from '../../checkpoints/safetensors.js';
import { WorkbenchError } from '../../src/run/errors.js';
import { writeFileAtomic } from '../../src/run/files.js';
import { runFiles } from '../../src/run/run-folder.js';
import type { StartVectors } from './vectors.js';

const vectorsFile = (runFolder: string) => join(runFiles(runFolder).embeddings, 'link-vectors.safetensors');

/** Writes them into the run, atomically. */
export function writeStartVectors(runFolder: string, { dim, entities, relations }: StartVectors): void {
  const table = (data: Float32Array): Tensor => ({ shape: [data.length / dim, dim], data });
  const tensors = new Map([
    ['entities', table(entities)],
    ['relations', table(relations)],
  ]);
  writeFileAtomic(vectorsFile(runFolder), encodeSafetensors({ tensors, metadata: new Map() }));
}

/**
 * @param sizes rows that the tables must have
 * @throws WorkbenchError `data` for a file that is missing, damaged, or of other sizes
 */
export function readStartVectors(
  runFolder: string,
  { numEntities, numRelations }: { numEntities: number; numRelations: number },
): StartVectors {
  const file = vectorsFile(runFolder);
  const { tensors } = readSafetensors(file, { finite: true });
  const table = (name: string, rows: number) => {
    const tensor = tensors.get(name);
    if (tensor?.data instanceof Float32Array && tensor.shape.length === 2 && tensor.shape[0]! >= rows) return tensor;
    const got = tensor ? `${tensor.data.constructor.name} [${tensor.shape.join()}]` : 'none';
    throw new WorkbenchError('data', `expected float32 ${name} of at least ${rows} rows, got ${got}, at ${file}`, {
      hint: 'Resume the run with `kgwalk train --resume`: it writes the file anew.',
    });
  };
  const entities = table('entities', numEntities);
  const relations = table('relations', numRelations);
  return {
    dim: entities.shape[1]!,
    entities: entities.data as Float32Array,
    relations: relations.data as Float32Array,
  };
}
