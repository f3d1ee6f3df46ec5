/** Switches of FiSKE. */
import { z } from 'zod';
import { choice, flag, real, whole } from '../../registry.js';
import { answersSwitch } from '../frontier-steps.js';
import { hopsOrEndSwitch } from '../hops/hops.js';
import { prefilterSettings } from '../prefilter/prefilter.js';

/** The switches of `fiske`, with their defaults. */
export const fiskeSettings = z.strictObject({
  stateful: flag(true).describe('Map only clues that are not covered yet; off: all clues, every time.'),
  earlyStop: flag(true).describe('A branch that covers every clue ends all others.'),
  gateAnswer: flag(true).describe(
    'Without full coverage the model answers alone; off: from the partial branches, merged.',
  ),
  multiAnswerRule: flag(true).describe(
    'All tails count as answers where one clue is left, a relation covers it and no entity was mapped; off: such a branch ends.',
  ),
  zeroCallShortcut: flag(true).describe(
    'A neighbour whose name is a clue is taken without a call, and nothing else of that head is.',
  ),
  backtracking: choice(['other-facts', 'never', 'always'], 'other-facts').describe(
    'Steps straight back to where a branch came from: over another fact than the one that led here, never (as in the reference), or always.',
  ),
  startPolicy: choice(['joint', 'sequential'], 'joint').describe(
    'All start nodes as one frontier, or one after the other until one reaches full coverage.',
  ),
  order: choice(['whole-frontier', 'best-first'], 'whole-frontier').describe(
    'Level by level, or the branches with most covered clues first.',
  ),
  share: choice(['clues', 'relations', 'none'], 'clues').describe(
    'Heads that share a mapping call: those with the same uncovered clues, those with the same relations as well, or none.',
  ),
  ...prefilterSettings,
  hops: hopsOrEndSwitch,
  clues: choice(['auto', 'model', 'names'], 'auto').describe(
    'Where clues come from: the model writes them, or they are the names of the graph in the question and its other words, without a call; auto is the latter where candidates are scored by likelihood.',
  ),
  answers: answersSwitch,
  batchSize: whole(1, 100, 20).describe('Candidates a mapping call.'),
  relationThreshold: whole(0, 10, 5).describe('Least score of a mapped relation.'),
  entityThreshold: whole(0, 10, 1).describe('Least score of a mapped entity.'),
  maxCandidates: whole(1, 2000, 80).describe('Entities that one mapping may be asked about.'),
  overflow: choice(['group', 'truncate'], 'group').describe(
    'More entities than that: the largest relations are accepted whole on the strength of their clue, without a call, or the rest is cut (as in the reference).',
  ),
  maxHops: whole(1, 6, 3).describe('Longest branch; the number of clues bounds it too.'),
  maxClues: whole(2, 16, 8).describe('Clues asked for.'),
  maxStarts: whole(1, 100, 5).describe('Entities of one name that become start nodes.'),
  nameMatch: real(0.5, 1, 0.9).describe('Share of common words from which a name matches a clue that no name equals.'),
  maxTriples: whole(1, 200, 30).describe('Facts in the answer prompt.'),
});

export type FiskeSettings = z.output<typeof fiskeSettings>;
