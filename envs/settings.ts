/** Settings of the environments: what each section of a configuration file may say. */
import { z } from 'zod';
import { rewardKinds } from './dialogue-walk/hits.js';

/** The `env` section of a configuration file. */
export const envSettings = z.strictObject({
  id: z.string().default('kgwalk/OpenDialKG-v1').describe('Environment id, as `makeEnv` knows it.'),
  options: z
    .record(z.string(), z.unknown())
    .optional()
    .describe('Of an environment with vector observations: what it is made with, such as {size: 5}.'),
  horizon: z.int().min(1).max(8).default(2).describe('Steps a walk may take, stays included.'),
  equalAtStep1: z
    .boolean()
    .default(false)
    .describe('Whether staying at the start is legal at the first step; from the second step on it always is.'),
  edgePolicy: z
    .enum(['full', 'topk-degree', 'ark'])
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
        .string()
        .refine((kind) => rewardKinds().includes(kind), {
          error: ({ input }) =>
            `expected a kind of reward (${rewardKinds().join(', ')}; of a plugin with --plugin FILE), got ${JSON.stringify(input)}`,
        })
        .default('path')
        .describe(
          'Condition of a hit: `target`, ending at the gold target; `path`, walking exactly the gold path; `first-hop`, ending where the first hop of the gold path ends, as in training by the code of LLM-ARK (with ppo.trainHorizon=1).',
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
    .describe('Terminal reward; earlier steps get only the shaping reward.'),
  shaping: z
    .enum(['none', 'transe'])
    .default('none')
    .describe('Potential-based shaping: `transe` adds the gain in embedding similarity to the target at each step.'),
});

/** Every setting with its value. */
export type EnvSettings = z.output<typeof envSettings>;

/** The `stateText` section of a configuration file. */
export const stateTextSettings = z.strictObject({
  encode: z
    .enum(['once', 'per-step'])
    .default('once')
    .describe(
      'What the encoder reads: the last messages, once a turn, or the whole text of every state that a walk comes to (the full textual environment of LLM-ARK; for a Llama set encoder.prefixReuse=auto). The other settings here are of the second.',
    ),
  template: z
    .enum(['normal', 'alpaca', 'none'])
    .default('normal')
    .describe('Text around the fields: the task and an instruction, the same under Alpaca’s headings, or none.'),
  history: z.boolean().default(true).describe('Include the messages before the last one.'),
  earlierPaths: z.boolean().default(true).describe('Include the earlier paths of the dialogue.'),
  outPaths: z
    .int()
    .min(0)
    .max(1000)
    .default(0)
    .describe(
      'Maximum number of listed edges of the current entity, in the graph’s order. They change at every step and so cost encoding time.',
    ),
  maxTokens: z
    .int()
    .min(32)
    .max(131_072)
    .default(320)
    .describe(
      'Tokens of a text. What is too long loses its oldest messages, then its oldest earlier paths; the last message, the walk, the entity and the step are never cut, and where they alone do not fit the model’s context, that is an error.',
    ),
  walkTokens: z
    .int()
    .min(0)
    .max(131_072)
    .default(96)
    .describe('Number of these tokens reserved for the walk, so that all states of a task begin with the same text.'),
});

/** Every setting with its value. */
export type StateTextSettings = z.output<typeof stateTextSettings>;

/** The `relationWalk` section of a configuration file. */
export const relationWalkSettings = z.strictObject({
  horizon: z.int().min(1).max(8).default(3).describe('Relations a walk may take.'),
  hops: z
    .enum(['learned', 'given'])
    .default('learned')
    .describe(
      'End of a walk: by the walker’s STOP, or by the number of hops in the data set (MetaQA); questions of unknown length are always ended by the walker.',
    ),
  reward: z
    .enum(['f1', 'exact', 'hit'])
    .default('f1')
    .describe(
      'Reward of the last frontier: F1 against the answers, 1 for the exact set, or 1 if its first entity is right (which teaches supersets: worse on long questions).',
    ),
  memoryMegabytes: z
    .int()
    .min(0)
    .max(65536)
    .default(256)
    .describe('Frontiers remembered, in MiB; topics not asked for longest are forgotten. Changes speed alone.'),
});

/** Every setting with its value. */
export type RelationWalkSettings = z.output<typeof relationWalkSettings>;

/** The `linkWalk` section of a configuration file. */
export const linkWalkSettings = z.strictObject({
  horizon: z.int().min(1).max(8).default(3).describe('Steps of every walk, stays included.'),
  bothDirections: z
    .boolean()
    .default(true)
    .describe('Train on head queries too, by inverse relations; else on tail queries only.'),
  hide: z
    .enum(['auto', 'pairs', 'own'])
    .default('auto')
    .describe(
      'Edges that a train query does not see: `pairs`, all between its head and its answer; `own`, itself and its inverse; `auto`: pairs where valid has less than a tenth as many such parallel edges as train.',
    ),
  queries: z
    .enum(['all', 'auto'])
    .optional()
    .describe(
      'Train queries: `all`, as without this key; `auto`: where `hide` hides pairs, those alone whose two entities no other edge of train links, as those of valid; all where these are less than a quarter.',
    ),
  shaping: z
    .enum(['none', 'terminal', 'potential'])
    .default('none')
    .describe(
      'Training reward in addition to the hit, from the probabilities of a pretrained scorer: `terminal`: at the end of a missed walk, the probability of its predicted triple (MultiHopKG); `potential`: at each step the gain in probability, which leaves the optimal policy unchanged.',
    ),
  shapingScorer: z
    .enum(['transe', 'bilinear'])
    .default('bilinear')
    .describe('Embeddings that the probability comes from: the section transe or bilinear trains them.'),
  shapingWeight: z.number().min(0).max(100).default(1).describe('Factor of what shaping pays; a hit pays 1.'),
});

/** Every setting with its value. */
export type LinkWalkSettings = z.output<typeof linkWalkSettings>;
