/** Settings of the environment: the `env` section of a configuration file. */
import { z } from 'zod';

/** The `env` section of a configuration file. */
export const envSettings = z.strictObject({
  id: z.string().default('kgwalk/OpenDialKG-v1').describe('Environment id, as `makeEnv` knows it.'),
  horizon: z.int().min(1).max(8).default(2).describe('Steps a walk may take, stays included.'),
  equalAtStep1: z
    .boolean()
    .default(false)
    .describe('Whether staying at the start is legal at the first step; from the second step on it always is.'),
  reward: z
    .strictObject({
      kind: z
        .enum(['target', 'path'])
        .default('path')
        .describe('What earns the hit: ending at the gold target, or walking exactly the gold path.'),
      hit: z.number().min(0).max(100).default(1).describe('Reward at the end of a walk that hits.'),
      miss: z
        .number()
        .min(-100)
        .max(0)
        .default(0)
        .describe('Reward at the end of any other walk: 0, or -1 as in LLM-ARK. A gold outside the graph is a miss.'),
    })
    .prefault({})
    .describe('Terminal reward; steps before the end earn nothing but shaping.'),
  shaping: z
    .enum(['none', 'transe'])
    .default('none')
    .describe('Potential-based shaping: `transe` adds the gain in embedding similarity to the target at each step.'),
});

/** Every setting with its value. */
export type EnvSettings = z.output<typeof envSettings>;
