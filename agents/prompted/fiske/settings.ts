/** Switches of FiSKE. */
import { z } from 'zod';
import { answersSwitch } from '../frontier-steps.js';
import { hopsOrEndSwitch } from '../hops/hops.js';
import { prefilterSettings } from '../prefilter/prefilter.js';

/** The switches of `fiske`, with their defaults. */
export const fiskeSettings = z.strictObject({
  stateful: z.boolean().default(true).describe('Map only clues that are not covered yet; off: all clues, every time.'),
  earlyStop: z.boolean().default(true).describe('A branch that covers every clue ends all others.'),
  gateAnswer: z
    .boolean()
    .default(true)
    .describe('Without full coverage the model answers alone; off: from the partial branches, merged.'),
  multiAnswerRule: z
    .boolean()
    .default(true)
    .describe(
      'All tails count as answers where one clue is left, a relation covers it and no entity was mapped; off: such a branch ends.',
    ),
  zeroCallShortcut: z
    .boolean()
    .default(true)
    .describe('A neighbour whose name is a clue is taken without a call, and nothing else of that head is.'),
  backtracking: z
    .enum(['other-facts', 'never', 'always'])
    .default('other-facts')
    .describe(
      'Steps straight back to where a branch came from: over another fact than the one that led here, never (as in the reference), or always.',
    ),
  startPolicy: z
    .enum(['joint', 'sequential'])
    .default('joint')
    .describe('All start nodes as one frontier, or one after the other until one reaches full coverage.'),
  order: z
    .enum(['whole-frontier', 'best-first'])
    .default('whole-frontier')
    .describe('Level by level, or the branches with most covered clues first.'),
  share: z
    .enum(['clues', 'relations', 'none'])
    .default('clues')
    .describe(
      'Heads that share a mapping call: those with the same uncovered clues, those with the same relations as well, or none.',
    ),
  ...prefilterSettings,
  hops: hopsOrEndSwitch,
  clues: z
    .enum(['auto', 'model', 'names'])
    .default('auto')
    .describe(
      'Where clues come from: the model writes them, or they are the names of the graph in the question and its other words, without a call; auto is the latter where candidates are scored by likelihood.',
    ),
  answers: answersSwitch,
  batchSize: z.int().min(1).max(100).default(20).describe('Candidates a mapping call.'),
  relationThreshold: z.int().min(0).max(10).default(5).describe('Least score of a mapped relation.'),
  entityThreshold: z.int().min(0).max(10).default(1).describe('Least score of a mapped entity.'),
  maxCandidates: z.int().min(1).max(2000).default(80).describe('Entities that one mapping may be asked about.'),
  overflow: z
    .enum(['group', 'truncate'])
    .default('group')
    .describe(
      'More entities than that: the largest relations are accepted whole on the strength of their clue, without a call, or the rest is cut (as in the reference).',
    ),
  maxHops: z.int().min(1).max(6).default(3).describe('Longest branch; the number of clues bounds it too.'),
  maxClues: z.int().min(2).max(16).default(8).describe('Clues asked for.'),
  maxStarts: z.int().min(1).max(100).default(5).describe('Entities of one name that become start nodes.'),
  nameMatch: z
    .number()
    .min(0.5)
    .max(1)
    .default(0.9)
    .describe('Share of common words from which a name matches a clue that no name equals.'),
  maxTriples: z.int().min(1).max(200).default(30).describe('Facts in the answer prompt.'),
});

export type FiskeSettings = z.output<typeof fiskeSettings>;
