/** Supervised training without PPO as a phase of a run. */
import type { ReaderSettings } from '../agents/readers/settings.js';
import type { Tensor } from '../checkpoints/safetensors.js';
import type { QuestionSample } from '../datasets/question.js';
import { Rng } from '../src/run/seeds.js';
import type { StoredTensors } from '../src/nn/parameters.js';
import type { TrainingPhase } from './phase.js';

/** Steps between two records of the metric log. */
const logEvery = 10;

/** Weights and optimizer state, kept in checkpoints and resumed from; `steps` of the optimizer. */
interface Fitted {
  state(): Promise<{ steps: number; tensors: Record<string, Tensor> }>;
  restore(tensors: StoredTensors, steps: number): void;
}

/** @param step returns figures under `train/…`, including the loss @param phase unit default `steps` */
export function fitPhase(
  fitted: Fitted,
  step: (at: number) => Promise<{ loss: number; figures: Readonly<Record<string, number>> }>,
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
    async step(at) {
      const { loss, figures } = await step(at);
      return { metrics: figures, text: () => `loss ${loss.toFixed(3)}` };
    },
    logsAt: (done, evaluates) => evaluates || done % logEvery === 0,
  };
}

/** Learning rate: linear decay to a share of the initial one, up to `restart` and again from there. @param step from 0 */
export function learningRateAt(
  step: number,
  { steps, learningRate, finalLearningRateShare }: ReaderSettings['fit'],
  restart = 0,
): number {
  const [done, of] = step < restart ? [step, restart] : [step - restart, steps - restart];
  const progress = of === 1 ? 0 : done / (of - 1);
  return learningRate * (1 - progress * (1 - finalLearningRateShare));
}

/** Questions of a step, reshuffled for each pass; the last batch of a pass may be smaller. */
export function batchesOf(train: readonly QuestionSample[], size: number, seed: number) {
  const perEpoch = Math.ceil(train.length / size);
  let drawn: { epoch: number; order: Int32Array } | undefined;
  return (step: number): QuestionSample[] => {
    const epoch = Math.floor(step / perEpoch);
    if (drawn?.epoch !== epoch) {
      const order = Rng.named(seed, 'fit/shuffle', epoch).shuffle(Int32Array.from(train.keys()));
      drawn = { epoch, order };
    }
    const begin = (step % perEpoch) * size;
    return Array.from(drawn.order.subarray(begin, begin + size), (i) => train[i]!);
  };
}
