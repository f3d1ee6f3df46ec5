/** The `policy` section of a configuration file: a network over vectors, and how it gathers experience in any environment. */
import { z } from 'zod';
import { flag, whole } from '../registry.js';

/** The `policy` section of a configuration file. */
export const policySettings = z.strictObject({
  hidden: z
    .array(z.int().min(1).max(4096))
    .max(8)
    .default([64, 64])
    .describe('Units of the hidden layers, of actor and critic alike, with tanh between them.'),
  totalSteps: whole(1, 1e12, 100_000).describe(
    'Steps of training in all copies together, rounded up to whole rounds of policy.numSteps × policy.numEnvs.',
  ),
  numEnvs: whole(1, 4096, 8).describe('Copies of the environment that are walked at once.'),
  numSteps: whole(1, 1_000_000, 256).describe('Steps that each copy takes in a round.'),
  minibatchSize: whole(1, 1_000_000, 64).describe('Steps in a minibatch; the last one may be smaller.'),
  normalizeObservation: flag(false).describe(
    'Whether observations are centred and scaled by what was seen so far, cut off at ±10; kept with the weights.',
  ),
  normalizeReward: flag(false).describe(
    'Whether rewards are divided in training by the standard deviation of the discounted return so far, cut off at ±10. Metrics use unscaled rewards.',
  ),
  evalEpisodes: whole(1, 100_000, 20).describe(
    'Episodes of each evaluation while training: always the same ones, with the most likely actions.',
  ),
});

/** Every setting with its value. */
export type PolicySettings = z.output<typeof policySettings>;
