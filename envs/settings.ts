/** Settings of the environment: the `env` section of a configuration file. */
import { z } from 'zod';

/** Which edges an entity may offer: see `walkGraph`. */
export const edgePolicies = ['full', 'topk-degree', 'ark'] as const;
/** One of `edgePolicies`. */
export type EdgePolicy = (typeof edgePolicies)[number];

/** The `env` section of a configuration file. */
export const envSettings = z.strictObject({
  id: z.string().default('kgwalk/OpenDialKG-v1').describe('Environment id, as `makeEnv` knows it.'),
  horizon: z.int().min(1).max(8).default(2).describe('Steps a walk may take, stays included.'),
  equalAtStep1: z
    .boolean()
    .default(false)
    .describe('Whether staying at the start is legal at the first step; from the second step on it always is.'),
  edgePolicy: z
    .enum(edgePolicies)
    .default('full')
    .describe(
      'Which edges an entity offers: `full`: all; `topk-degree`: the first of each relation in turn, by the degree of their tails; `ark`: the table of LLM-ARK, in which edges that dialogues of all splits walk come first: it leaks valid and test, so its scores are for comparison with the paper alone.',
    ),
  maxOut: z
    .int()
    .min(2)
    .max(1_000_000)
    .default(50)
    .describe('Longest list of actions, staying included; read by the edge policies other than `full`.'),
  reward: z
    .strictObject({
      kind: z
        .enum(['target', 'path', 'first-hop'])
        .default('path')
        .describe(
          'What earns the hit: ending at the gold target, walking exactly the gold path, or ending where the first hop of the gold path ends, which is what the code of LLM-ARK trains on (with ppo.trainHorizon=1).',
        ),
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
