/** Supervised training without PPO as a phase of a run. */
import type { Tensor } from '../checkpoints/safetensors.js';
import type { StoredTensors } from '../src/nn/parameters.js';
import type { TrainingPhase } from './phase.js';

/** Steps between two records of the metric log. */
const logEvery = 10;

/** Weights and optimizer state, kept in checkpoints and resumed from; `steps` of the optimizer. */
interface Fitted {
  state(): Promise<{ steps: number; tensors: Record<string, Tensor> }>;
  restore(tensors: StoredTensors, steps: number): void;
}

/** @param step its metrics include `train/loss` @param phase unit default `steps` */
export function fitPhase(
  fitted: Fitted,
  step: TrainingPhase['step'],
  phase: Pick<TrainingPhase, 'steps' | 'evaluatesAt' | 'evaluate' | 'close'> & { unit?: string | undefined },
): TrainingPhase {
  return {
    ...phase,
    ...{ name: 'fit', unit: phase.unit ?? 'steps' },
    remedy: 'Lower learningRate or maxGradNorm of reader.fit or exactWalker.messages.',
    // It names its weights and optimizer state itself.
    trainState: {
      actor: { parameters: { export: () => Promise.resolve({}), import: () => {} }, weightsChanged: () => {} },
      optimizer: {
        exportState: () => fitted.state(),
        importState: (_prefix, steps, tensors) => fitted.restore(tensors, steps),
      },
    },
    text: (metrics) => `loss ${metrics['train/loss']!.toFixed(3)}`,
    step,
    logsAt: (done, evaluates) => evaluates || done % logEvery === 0,
  };
}
