/** Switches of Self-VEQA. */
import { z } from 'zod';
import { hopsSwitch } from '../hops/hops.js';
import { prefilterSettings } from '../prefilter/prefilter.js';

/** The switches of `self-veqa`, with their defaults. */
export const selfVeqaSettings = z.strictObject({
  chains: z.int().min(1).max(20).default(3).describe('Chains proposed a round.'),
  rounds: z.int().min(1).max(10).default(2).describe('Rounds of proposing and verifying.'),
  verify: z
    .boolean()
    .default(true)
    .describe('A second role of the model judges the chains; off: the first that leads anywhere is taken.'),
  verifier: z
    .enum(['choice', 'reference'])
    .default('choice')
    .describe('The verifier names a chain by number, or writes the answers out (as in the paper).'),
  memory: z
    .enum(['off', 'frozen', 'online'])
    .default('frozen')
    .describe('Solved questions as examples: none, those of train, or those and what was verified since.'),
  shots: z
    .int()
    .min(0)
    .max(40)
    .default(8)
    .describe('Solved questions in the prompt; fewer for models of short context.'),
  shotsPerChain: z.int().min(1).max(40).default(2).describe('Of those, with the same chain.'),
  shotDiversity: z
    .number()
    .min(0)
    .max(1)
    .default(0.3)
    .describe('Weight of being unlike the examples already chosen; 0 takes the nearest.'),
  memoryPerChain: z
    .int()
    .min(0)
    .default(0)
    .describe('Solved questions of train kept for one chain, drawn by seed; 0 keeps all.'),
  vocabulary: z
    .enum(['examples', 'reachable', 'all'])
    .default('reachable')
    .describe(
      'Relations that chains may hold: those of the examples (as in the paper), those that lead on from the topic, or all, which lets chains lead nowhere.',
    ),
  hops: hopsSwitch,
  maxHops: z.int().min(1).max(4).default(3).describe('Longest chain where the length is not given.'),
  ...prefilterSettings,
  maxChains: z
    .int()
    .min(1)
    .max(100_000)
    .default(2000)
    .describe('Chains that the grammar may hold; beyond it those whose relations are most like the question.'),
  triples: z.int().min(0).max(500).default(50).describe('Facts that the verifier sees; 0 shows none.'),
  tripleCandidates: z
    .int()
    .min(1)
    .max(5000)
    .default(128)
    .describe('Facts around the topic that are compared with the question to find those.'),
  answersShown: z.int().min(1).max(100).default(10).describe('Names shown of where a chain leads.'),
});

export type SelfVeqaSettings = z.output<typeof selfVeqaSettings>;
