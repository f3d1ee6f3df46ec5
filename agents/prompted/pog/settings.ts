/** Switches of Plan-on-Graph. */
import { z } from 'zod';
import { choice, flag, whole } from '../../registry.js';
import { answersSwitch } from '../frontier-steps.js';
import { hopsOrEndSwitch } from '../hops/hops.js';
import { prefilterSettings } from '../prefilter/prefilter.js';

/** The switches of `pog`, with their defaults. */
export const pogSettings = z.strictObject({
  guidance: choice(['auto', 'on', 'off'], 'auto').describe(
    'Whether the question is split into sub-objectives first, which guide every choice; auto is on, but off where candidates are scored by likelihood.',
  ),
  memory: flag(true).describe('What is known is kept in words, renewed at every depth, where a verdict reads it.'),
  reflection: flag(true).describe(
    'After facts that do not suffice, entities that were left behind may be come back to.',
  ),
  reflections: whole(0, 20, 5).describe('How often a question may be reflected on.'),
  depth: whole(1, 8, 4).describe('Longest path explored.'),
  relations: whole(1, 20, 3).describe('Relations chosen at a time, at most.'),
  width: whole(1, 100, 8).describe('Maximum relation sequences kept after a depth.'),
  calls: choice(['frontier', 'entity'], 'frontier').describe(
    'What one call decides for: all entities that the same relations led to, or each entity for itself, as in the reference.',
  ),
  listed: whole(2, 500, 70).describe('Entities in one choice, at most.'),
  overflow: choice(['whole', 'likest', 'sample'], 'whole').describe(
    'Handling of a longer list: keep all, keep the entities most similar to the question by their words, or a random sample by seed.',
  ),
  noReturn: choice(['topic', 'relation'], 'topic').describe(
    'What a path may not do next: come back to its topic, or also take the inverse of its last relation (the reference).',
  ),
  hops: hopsOrEndSwitch,
  finalPolicy: choice(['triples', 'alone'], 'triples').describe(
    'What the answer rests on when the depth is exhausted: the facts found, or the model alone (as in the paper).',
  ),
  facts: whole(1, 1000, 60).describe('Facts in a prompt, one way to each entity reached.'),
  answers: answersSwitch,
  ...prefilterSettings,
});

export type PogSettings = z.output<typeof pogSettings>;
