/** Switches of Plan-on-Graph. */
import { z } from 'zod';
import { answersSwitch } from '../frontier-steps.js';
import { hopsOrEndSwitch } from '../hops/hops.js';
import { prefilterSettings } from '../prefilter/prefilter.js';

/** The switches of `pog`, with their defaults. */
export const pogSettings = z.strictObject({
  guidance: z
    .enum(['auto', 'on', 'off'])
    .default('auto')
    .describe(
      'Whether the question is split into sub-objectives first, which guide every choice; auto is on, but off where candidates are scored by likelihood.',
    ),
  memory: z
    .boolean()
    .default(true)
    .describe('What is known is kept in words, renewed at every depth, where a verdict reads it.'),
  reflection: z
    .boolean()
    .default(true)
    .describe('After facts that do not suffice, entities that were left behind may be come back to.'),
  reflections: z.int().min(0).max(20).default(5).describe('How often a question may be reflected on.'),
  depth: z.int().min(1).max(8).default(4).describe('Longest path explored.'),
  relations: z.int().min(1).max(20).default(3).describe('Relations chosen at a time, at most.'),
  width: z.int().min(1).max(100).default(8).describe('Maximum relation sequences kept after a depth.'),
  calls: z
    .enum(['frontier', 'entity'])
    .default('frontier')
    .describe(
      'What one call decides for: all entities that the same relations led to, or each entity for itself, as in the reference.',
    ),
  listed: z.int().min(2).max(500).default(70).describe('Entities in one choice, at most.'),
  overflow: z
    .enum(['whole', 'likest', 'sample'])
    .default('whole')
    .describe(
      'Handling of a longer list: keep all, keep the entities most similar to the question by their words, or a random sample by seed.',
    ),
  noReturn: z
    .enum(['topic', 'relation'])
    .default('topic')
    .describe(
      'What a path may not do next: come back to its topic, or also take the inverse of its last relation (the reference).',
    ),
  hops: hopsOrEndSwitch,
  finalPolicy: z
    .enum(['triples', 'alone'])
    .default('triples')
    .describe(
      'What the answer rests on when the depth is exhausted: the facts found, or the model alone (as in the paper).',
    ),
  facts: z.int().min(1).max(1000).default(60).describe('Facts in a prompt, one way to each entity reached.'),
  answers: answersSwitch,
  ...prefilterSettings,
});

export type PogSettings = z.output<typeof pogSettings>;
