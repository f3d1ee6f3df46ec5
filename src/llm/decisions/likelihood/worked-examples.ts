/**
 * Solved lines that stand before what is scored: one set for each thing that may be chosen, the same for all agents, from
 * invented worlds. In questions about relations the topic is `it`, as everywhere where it is known.
 */

/** Kind of choice. Relations and chains share a form: a relation continues a chain. */
export type Chosen = 'relation' | 'chain' | 'entity' | 'path' | 'clue' | 'verdict' | 'truth';

/** Separator of a question and its result. */
export const sign = ' =';

const chains = [
  'in which harbours were the ships designed by it built? = designed by, then built in',
  'when were the songs that it sang recorded? = sung by, then recording year',
  'which songs have the same singer as it? = sung by, then sung by',
  'who sailed on it? = crew members',
  'which people sailed on the ships designed by it? = designed by, then crew members',
  'who designed the ships that were built in it? = built in, then designed by',
];

const examples: Readonly<Record<Chosen, readonly string[]>> = {
  relation: chains,
  chain: chains,
  entity: [
    'who designed the Grey Heron? = Ivo Marr',
    'in which harbour was the Lark built? = Port Vell',
    'what sort of instrument is the Long Reed? = flute',
    'when did the Old Brindle sink? = 1731',
  ],
  path: [
    'who designed the Grey Heron? = Grey Heron → designed by → Ivo Marr',
    'in which harbours were the ships designed by Ivo Marr built? = Ivo Marr → designed by → Lark → built in → Port Vell',
    'what sort of instrument is the Long Reed? = Long Reed → has kind → flute',
    'when did the ship of Ada Finch sink? = Ada Finch → captain → Old Brindle → year of sinking → 1731',
  ],
  clue: [
    'designer? = designed by',
    'songs? = sung by',
    'when recorded? = recording year',
    'crew? = crew members',
    'harbour? = built in',
  ],
  verdict: [
    'Facts: Grey Heron designed by Ivo Marr\nwho designed the Grey Heron? = yes',
    'Facts: Lark designed by Ivo Marr\nin which harbours were the ships designed by Ivo Marr built? = no',
    'Facts: Long Reed tuned by Ada Finch\nwhat sort of instrument is the Long Reed? = no',
    'Facts: Old Brindle captain Ada Finch; Old Brindle year of sinking 1731\nwhen did the ship of Ada Finch sink? = yes',
  ],
  truth: [
    'Facts: Grey Heron designed by Ivo Marr\nthe Grey Heron was designed by Ivo Marr? = true',
    'Facts: Lark built in Port Vell\nthe Lark was built in Sund? = false',
    'Facts: Long Reed has kind flute\nthe Long Reed is a drum? = false',
    'Facts: Old Brindle year of sinking 1731\nthe Old Brindle sank in 1731? = true',
  ],
};

/** The worked examples of what is chosen: the beginning of every text that is scored, up to the end of the last line. */
export function plainHead(chosen: Chosen): string {
  return examples[chosen].join('\n');
}
