/** Switches of KnowledgeNavigator. */
import { z } from 'zod';
import { choice, flag, whole } from '../../registry.js';
import { answersSwitch } from '../frontier-steps.js';
import { hopsSwitch } from '../hops/hops.js';
import { prefilterSettings } from '../prefilter/prefilter.js';

/** The switches of `knowledge-navigator`, with their defaults. */
export const knowledgeNavigatorSettings = z.strictObject({
  paraphrases: whole(0, 5, 2).describe(
    'Paraphrases that vote together with the question; 0: the question votes alone.',
  ),
  weight: z
    .number()
    .positive()
    .max(10)
    .default(0.51)
    .describe('Weight of a paraphrase’s vote, the question’s being 1: at 0.51 two that agree outvote it.'),
  best: whole(1, 20, 1).describe('Relations kept by a vote; no vote is held when there are no more than that.'),
  union: choice(['hop', 'signature', 'entity'], 'hop').describe(
    'What one vote decides for: all entities of a hop, those of a hop that have the same relations, or each entity for itself, as in the reference.',
  ),
  hops: hopsSwitch,
  maxHops: whole(1, 8, 3).describe('Longest walk if the hop count is unknown.'),
  direction: choice(['dropped', 'kept'], 'dropped').describe(
    'Offer a relation by its bare name and walk both directions, or offer each direction separately.',
  ),
  noReturn: choice(['topic', 'seen'], 'topic').describe(
    'Entities that are not expanded: the topic, or all that were expanded before, as in the reference.',
  ),
  aggregate: flag(true).describe(
    'In the answer prompt facts of one head and relation stand in one line, and so do those of one relation and tail.',
  ),
  facts: whole(1, 1000, 60).describe('Facts in the answer prompt, one way to each entity reached.'),
  answers: answersSwitch,
  ...prefilterSettings,
});

export type KnowledgeNavigatorSettings = z.output<typeof knowledgeNavigatorSettings>;
