/**
 * A decision as plain text that a model continues: no list, no number, no JSON. A question is a line `question? =
 * chain`, behind solved lines of the same form (`plainHead`); relations are its next link: `question? = directed by,
 * then`. The embedded model is trained on the same form.
 */
import type { ContextBlock, Decision } from '../../decision.js';
import { oneLine, shownName } from '../prompt-text.js';

const arrow = ' → ';
/** Separator of the relations of a chain. */
export const then = ', then';
/** Placeholder for a topic named in the question, so that its name is not taken for a relation. */
const topicWord = 'it';
const pathLabel = 'Path';

/** Parts of a decision that a body shows. */
export type PlainTask = Pick<Decision, 'question' | 'context'> & Partial<Pick<Decision, 'evidence'>>;

/**
 * Text before a choice: other context and facts a line each, then the question. Of relations and chains the question
 * has `it` for its topic, followed by the path walked.
 */
export function plainBody(chosen: Chosen, { question, context = [], evidence = [] }: PlainTask) {
  const [topic = '', ...walked] = pathOf(context);
  const chainForm = chosen === 'relation' || chosen === 'chain';
  const facts = evidence.map(([head, relation, tail]) =>
    [head, plainRelation(relation), tail].map(shownName).join(' '),
  );
  const others = [...context.filter(({ label }) => label !== pathLabel), { label: 'Facts', lines: facts }];
  const before = others.flatMap(blockLines);
  const links = chainForm ? walked.map((relation) => ` ${plainRelation(relation)}${then}`).join('') : '';
  const asked = asksFor(chainForm ? withoutTopic(question, topic) : oneLine(question));
  return {
    body: ['', ...before, `${asked}${sign}${links}`].join('\n'),
    /** For priors: without question, history and facts. What usually follows a path is no merit of a relation. */
    prior: `\n?${sign}${links}`,
  };
}

/** A text as it follows a body. */
export const plainContinuation = (text: string): string => ` ${text}`;

/** `~film.film.directed_by` → `directed by`: a relation's words, in both directions. */
export function plainRelation(name: string): string {
  const plain = name.startsWith('~') ? name.slice(1) : name;
  const last = plain.split('.').findLast((part) => part !== '') ?? plain;
  return shownName(last.replace(/[_/\s]+/gu, ' ').trim());
}

/** Relation names as one chain: `directed by, then written by`. */
export const plainChain = (names: readonly string[]): string => names.map(plainRelation).join(`${then} `);

/** A solved question as a line, used as an example. @param topics names as the question has them */
export function plainSolved(question: string, topics: readonly string[], chain: readonly string[]): string {
  const masked = topics.reduce((text, topic) => withoutTopic(text, topic), question);
  return `${asksFor(masked)}${sign} ${plainChain(chain)}`;
}

/** `topic → relation → relation` and `relation → entity` with the relations' words; other lines as they are. */
export const plainLine = (line: string): string => oneLine(line).split(arrow).map(plainStep).join(arrow);

/** Names of relations are written with underscores or dots and without spaces; names of entities rarely are. */
const plainStep = (step: string): string =>
  /^~?[\p{L}\p{N}]+(?:[_.][\p{L}\p{N}_.]+)?$/u.test(step) && /[_.~]/.test(step) ? plainRelation(step) : shownName(step);

export function plainCandidate({ kind, text }: { kind: string; text: string }): string {
  if (kind === 'relation') return plainRelation(text);
  return kind === 'chain' ? plainChain(text.split(arrow)) : plainLine(text);
}

/** The topic, or several with commas between them, and the relations walked. */
function pathOf(context: readonly ContextBlock[]): string[] {
  const [line] = context.find(({ label }) => label === pathLabel)?.lines ?? [];
  return line === undefined ? [] : oneLine(line).split(arrow);
}

/** Solved questions stand as they are, as further examples; all else has its label. */
function blockLines({ label, lines, role }: ContextBlock): string[] {
  if (lines.length === 0) return [];
  if (role === 'history') return lines.map(oneLine);
  return [`${oneLine(label)}: ${lines.map(plainLine).join('; ')}`];
}

const asksFor = (question: string): string => `${question.replace(/(?<![\s?])[\s?]+$/u, '')}?`;

/**
 * Replaces the first mention of the topic, as a whole word in any case, with its brackets; several names have commas
 * between them unless the whole is one.
 */
function withoutTopic(question: string, topic: string): string {
  const plain = oneLine(question);
  const whole = withoutNames(plain, [topic]);
  return whole === plain ? withoutNames(plain, topic.split(', ')) : whole;
}

/** Letters and digits that end a word; none in scripts without spaces between words. */
const wordSign = String.raw`(?![\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Hang}\p{scx=Thai}])[\p{L}\p{N}]`;

function withoutNames(text: string, topics: readonly string[]): string {
  const names = topics.filter((name) => name !== '').sort((a, b) => b.length - a.length);
  if (names.length === 0) return text;
  const any = names.map((name) => name.replace(/[\\^$.*+?()[\]{}|/]/gu, String.raw`\$&`)).join('|');
  const seen = new Set<string>();
  const named = new RegExp(String.raw`\[(?:${any})\]|(?<!${wordSign})(?:${any})(?!${wordSign})`, 'giu');
  return text.replace(named, (found) => {
    const name = found.replace(/^\[(.*)\]$/u, '$1').toLowerCase();
    if (seen.has(name)) return found;
    seen.add(name);
    return topicWord;
  });
}

/**
 * Kind of choice, each with its solved lines, the same for all agents, from invented worlds. In questions about relations the topic
 * is `it`. Relations and chains share a form: a relation continues a chain.
 */
export type Chosen = 'relation' | 'chain' | 'entity' | 'path' | 'clue' | 'verdict' | 'truth';

/** Separator of a question and its result. */
const sign = ' =';

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
export const plainHead = (chosen: Chosen): string => examples[chosen].join('\n');
