/** Switches of Self-VEQA. */
import { z } from 'zod';
import { choice, flag, real, whole } from '../../registry.js';
import { hopsSwitch } from '../hops/hops.js';
import { prefilterSettings } from '../prefilter/prefilter.js';

/** The switches of `self-veqa`, with their defaults. */
export const selfVeqaSettings = z.strictObject({
  chains: whole(1, 20, 3).describe('Chains proposed a round.'),
  rounds: whole(1, 10, 2).describe('Rounds of proposing and verifying.'),
  verify: flag(true).describe(
    'A second role of the model judges the chains; off: the first that leads anywhere is taken.',
  ),
  verifier: choice(['choice', 'reference'], 'choice').describe(
    'The verifier names a chain by number, or writes the answers out (as in the paper).',
  ),
  memory: choice(['off', 'frozen', 'online'], 'frozen').describe(
    'Solved questions as examples: none, those of train, or those and what was verified since.',
  ),
  shots: whole(0, 40, 8).describe('Solved questions in the prompt; fewer for models of short context.'),
  shotsPerChain: whole(1, 40, 2).describe('Of those, with the same chain.'),
  shotDiversity: real(0, 1, 0.3).describe('Weight of being unlike the examples already chosen; 0 takes the nearest.'),
  memoryPerChain: z
    .int()
    .min(0)
    .default(0)
    .describe('Solved questions of train kept for one chain, drawn by seed; 0 keeps all.'),
  vocabulary: choice(['examples', 'reachable', 'all'], 'reachable').describe(
    'Relations that chains may hold: those of the examples (as in the paper), those that lead on from the topic, or all, which lets chains lead nowhere.',
  ),
  hops: hopsSwitch,
  maxHops: whole(1, 4, 3).describe('Longest chain where the length is not given.'),
  ...prefilterSettings,
  maxChains: whole(1, 100_000, 2000).describe(
    'Chains that the grammar may hold; beyond it those whose relations are most like the question.',
  ),
  triples: whole(0, 500, 50).describe('Facts that the verifier sees; 0 shows none.'),
  tripleCandidates: whole(1, 5000, 128).describe(
    'Facts around the topic that are compared with the question to find those.',
  ),
  answersShown: whole(1, 100, 10).describe('Names shown of where a chain leads.'),
});

export type SelfVeqaSettings = z.output<typeof selfVeqaSettings>;
