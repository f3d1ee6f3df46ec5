/** Solved instances that stand before what is scored: one for each thing that may be chosen, the same for all agents. */

/** What is chosen. Each has its own examples, so what a text is worth by itself is known for all agents at once. */
export type Chosen = 'relation' | 'chain' | 'entity' | 'path' | 'verdict' | 'clue';

/** What stands before a chosen text. */
export const labels: Readonly<Record<Chosen, string>> = {
  relation: 'Relation',
  chain: 'Relations',
  entity: 'Entity',
  path: 'Path',
  verdict: 'Enough',
  clue: 'Meaning',
};

const examples: Readonly<Record<Chosen, readonly string[]>> = {
  relation: [
    'Question: who painted the Grey Heron\nPath: Grey Heron\nRelation: painter',
    'Question: in which harbour were the ships that Tamsin Orrel sailed built\nPath: Tamsin Orrel\nRelation: sailed',
    'Question: in which harbour were the ships that Tamsin Orrel sailed built\nPath: Tamsin Orrel → sailed\nRelation: built in',
    'Question: what sort of instrument is the Long Reed\nPath: Long Reed\nRelation: has kind',
  ],
  chain: [
    'Question: who painted the Grey Heron\nRelations: painter',
    'Question: in which harbour were the ships that Tamsin Orrel sailed built\nRelations: sailed, then built in',
    'Question: what sort of instrument is the Long Reed\nRelations: has kind',
    'Question: who taught the pupils of the woman that tuned the Long Reed\nRelations: tuner, then pupil, then taught by',
  ],
  entity: [
    'Question: who painted the Grey Heron\nEntity: Ivo Marr',
    'Question: in which harbour was the Lark built\nEntity: Port Vell',
    'Question: what sort of instrument is the Long Reed\nEntity: flute',
    'Question: when did the Old Brindle sink\nEntity: 1731',
  ],
  path: [
    'Question: who painted the Grey Heron\nPath: Grey Heron → painter → Ivo Marr',
    'Question: in which harbour were the ships that Tamsin Orrel sailed built\nPath: Tamsin Orrel → sailed → Lark → built in → Port Vell',
    'Question: what sort of instrument is the Long Reed\nPath: Long Reed → has kind → flute',
    'Question: when did the ship of Ada Finch sink\nPath: Ada Finch → captain → Old Brindle → sunk in → 1731',
  ],
  verdict: [
    'Question: who painted the Grey Heron\nFacts: Grey Heron painter Ivo Marr\nEnough: yes',
    'Question: in which harbour were the ships that Tamsin Orrel sailed built\nFacts: Tamsin Orrel sailed Lark\nEnough: no',
    'Question: what sort of instrument is the Long Reed\nFacts: Long Reed tuned by Ada Finch\nEnough: no',
    'Question: when did the ship of Ada Finch sink\nFacts: Ada Finch captain Old Brindle; Old Brindle sunk in 1731\nEnough: yes',
  ],
  clue: [
    'Question: who painted the Grey Heron\nClue: painted\nMeaning: painter',
    'Question: in which harbour were the ships that Tamsin Orrel sailed built\nClue: ships\nMeaning: sailed',
    'Question: what sort of instrument is the Long Reed\nClue: sort\nMeaning: has kind',
    'Question: when did the ship of Ada Finch sink\nClue: when\nMeaning: sunk in',
  ],
};

/** The worked examples of what is chosen: the beginning of every text that is scored, up to the end of the last example. */
export function plainHead(chosen: Chosen): string {
  return examples[chosen].join('\n\n');
}
