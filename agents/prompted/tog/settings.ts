/** Switches of Think-on-Graph. */
import { z } from 'zod';
import { choice, whole } from '../../registry.js';
import { answersSwitch } from '../frontier-steps.js';
import { hopsOrEndSwitch } from '../hops/hops.js';
import { prefilterSettings } from '../prefilter/prefilter.js';

/** The switches of `tog`, with their defaults. */
export const togSettings = z.strictObject({
  width: whole(1, 20, 3).describe('Beams kept after every depth (N).'),
  depth: whole(1, 8, 3).describe('Longest path explored (D).'),
  prune: choice(['model', 'bm25', 'embedding'], 'model').describe(
    'Who scores relations and entities: the language model, word overlap, or sentence vectors (no calls).',
  ),
  ...prefilterSettings,
  share: choice(['none', 'beams'], 'none').describe(
    'One call per beam for its relations, or one shared by all beams of a depth (as in ToG-2).',
  ),
  hops: hopsOrEndSwitch,
  answers: answersSwitch,
  frontierLimit: whole(1, 100_000, 1000).describe(
    'Maximum entities of a whole set; of more, those with the most paths are kept.',
  ),
  maxCandidates: whole(2, 500, 20).describe('Entities of one relation that are scored; more are reduced first.'),
  reduction: choice(['first', 'sample'], 'first').describe(
    'How more entities than that are reduced: the first by id, or `retain` of them drawn by seed (the reference draws without one).',
  ),
  retain: whole(1, 100, 5).describe('Entities kept by `reduction: sample`.'),
  noReturn: choice(['edge', 'relation'], 'edge').describe(
    'What a path may not do next: walk back the edge it came by, or take the inverse of its last relation at all (the reference), which closes every question about "other films of the same director".',
  ),
  finalPolicy: choice(['triples', 'cot'], 'triples').describe(
    'What the answer rests on when the depth is exhausted: the facts found, or the model alone (as in the paper).',
  ),
});

export type TogSettings = z.output<typeof togSettings>;
