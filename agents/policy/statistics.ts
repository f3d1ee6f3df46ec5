/** The statistics that observations and rewards were normalised by, as tensors of a checkpoint. */
import { type Checkpoint, optimizerPrefix } from '../../checkpoints/checkpoint.js';
import type { Tensor } from '../../checkpoints/safetensors.js';
import type { Normalizer, NormalizerState } from '../../envs/wrappers/normalizer.js';

/** Those of observations belong to the weights; those of returns are what training alone needs, as optimizers are. */
const names = { observations: 'normalizer/observations', returns: `${optimizerPrefix}normalizer/returns` };

type Moments = NonNullable<NormalizerState['observations']>;

/** float64 each: means, variances, count. */
export function statisticsTensors(normalizer: Normalizer | undefined): Record<string, Tensor> {
  const { observations, returns } = normalizer?.export() ?? {};
  const flat = ({ mean, variance, count }: Moments): Tensor => {
    const data = Float64Array.from([...mean, ...variance, count]);
    return { shape: [data.length], data };
  };
  return {
    ...(observations && { [names.observations]: flat(observations) }),
    ...(returns && { [names.returns]: flat(returns) }),
  };
}

/** Gives a normalizer the statistics of a checkpoint. @throws WorkbenchError `data` where there are none, or others */
export function readStatistics(normalizer: Normalizer | undefined, tensors: Checkpoint['tensors']): void {
  if (!normalizer) return;
  const of = (name: string): Moments | undefined => {
    const data = tensors[name] && Array.from(tensors[name].data as Float64Array);
    if (!data) return undefined;
    const width = (data.length - 1) / 2;
    return { mean: data.slice(0, width), variance: data.slice(width, 2 * width), count: data.at(-1)! };
  };
  normalizer.import({ observations: of(names.observations), returns: of(names.returns) });
}
