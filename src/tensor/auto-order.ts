/**
 * Which rung `auto` tries first: a call of an operation costs the more the further away it is computed, a multiply-add the
 * less. Bounds are of docs/decisions/backends.md.
 */
import type { BackendName } from './backend.js';

/** The largest product of one training step: [rows, inputs] × [inputs, units]. */
export interface NetworkSize {
  rows: number;
  inputs: number;
  units: number;
}

/** Million multiply-adds of the largest product from which on a rung is worth its calls. */
const worthFrom = { tensorflow: 4, gpu: 100 };

/** The order to try rungs in, and why, as half a sentence. Without a size: the order for large networks. */
export function autoOrder(size?: NetworkSize): { names: readonly BackendName[]; why: string } {
  const large: BackendName[] = ['tensorflow-gpu', 'webgpu', 'tensorflow', 'wasm', 'cpu'];
  if (size === undefined) return { names: large, why: 'the first that works' };
  const millions = (size.rows * size.inputs * size.units) / 1e6;
  const product = `its largest product is ${size.rows} × ${size.inputs} × ${size.units}, ${rounded(millions)} million multiply-adds`;
  if (millions >= worthFrom.gpu) return { names: large, why: `${product}: a GPU is worth its calls` };
  if (millions >= worthFrom.tensorflow) {
    return {
      names: ['tensorflow', 'tensorflow-gpu', 'wasm', 'cpu'],
      why: `${product}: native TensorFlow is worth its calls, a GPU not`,
    };
  }
  return { names: ['wasm', 'cpu', 'tensorflow'], why: `${product}: small networks are fastest on wasm` };
}

function rounded(millions: number): string {
  return millions < 10 ? millions.toPrecision(2) : millions.toFixed(0);
}
