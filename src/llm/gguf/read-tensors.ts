/** Reads the weights of a GGUF model file. */
import { closeSync, openSync, readSync } from 'node:fs';
import { WorkbenchError } from '../../run/errors.js';
import { fromFloat16 } from './float16.js';
import { readGgufHeader } from './read-header.js';
import { tensorBytes } from './tensor-types.js';

export interface LoadedTensor {
  /** Sizes, fastest first. */
  shape: readonly number[];
  values: Float32Array;
}

/**
 * Tensors by name, as single-precision numbers.
 * @param names which; default all. The memory taken is at most twice the file, whatever its header states
 * @throws WorkbenchError `data` for a damaged file, a name it lacks or a type other than F32 and F16
 */
export function readGgufTensors(path: string, names?: readonly string[]): Map<string, LoadedTensor> {
  const { tensors, dataStart } = readGgufHeader(path);
  const byName = new Map(tensors.map((tensor) => [tensor.name, tensor]));
  const descriptor = openSync(path, 'r');
  try {
    return new Map(
      (names ?? [...byName.keys()]).map((name) => {
        const tensor = byName.get(name);
        if (tensor === undefined || tensor.type > 1) {
          const got = tensor === undefined ? 'none of that name' : `ggml type ${tensor.type}`;
          throw new WorkbenchError('data', `expected tensor ${name} as F32 or F16, got ${got}, at ${path}`, {
            hint: 'Quantised weights cannot be read here: choose a file in F16 or F32.',
          });
        }
        const { shape, type, offset } = tensor;
        const bytes = new Uint8Array(
          tensorBytes(
            type,
            shape.reduce((product, length) => product * length, 1),
          )!,
        );
        readSync(descriptor, bytes, 0, bytes.length, dataStart + offset);
        const values = type === 0 ? new Float32Array(bytes.buffer) : fromFloat16(new Uint16Array(bytes.buffer));
        return [name, { shape, values }];
      }),
    );
  } finally {
    closeSync(descriptor);
  }
}
