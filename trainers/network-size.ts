/** How large a training's networks are, by which `auto` chooses what computes them. */
import { contextDimOf } from '../agents/walker/features/featurizer.js';
import type { NetworkSize } from '../src/tensor/backend.js';
import { linkQueryId } from '../envs/link-query/world.js';
import { relationWalkId } from '../envs/relation-walk/relation-walk-env.js';
import type { TrainSettings } from './train-settings.js';

/**
 * The first layer over the texts, at the largest batch: of all products usually the largest.
 * @param textDim dimension of the encoder's vectors
 */
export function networkSize(settings: TrainSettings, textDim: number): NetworkSize {
  const { clone, ppo, env, stateText, relationWalk, relationWalker, linkWalk, linkWalker, walker } = settings;
  const states = Math.max(clone.enabled ? clone.batchSize : 0, ppo.minibatchSamples * ppo.explorations);
  if (env.id === relationWalkId) {
    return { rows: states * relationWalk.horizon, inputs: textDim, units: relationWalker.questionWidth };
  }
  if (env.id === linkQueryId) {
    const { vectorDim, pathDim, width } = linkWalker;
    return { rows: states * linkWalk.horizon, inputs: pathDim + 2 * vectorDim, units: width };
  }
  const inputs = contextDimOf(textDim, stateText.encode === 'per-step');
  return { rows: states * env.horizon, inputs, units: walker.width };
}
