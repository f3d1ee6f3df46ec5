/**
 * A decision as plain text for continuation by a model: no list, no number, no JSON. Small models continue patterns; they
 * do not look lines up. A question is a line `question? = chain`, behind solved lines of the same form (`plainHead`);
 * relations are its next link: `question? = directed by, then`. The embedded model is trained on the same form.
 */
import type { ContextBlock, Decision, NamedTriple } from '../../decision.js';
import { oneLine, shownName } from '../prompt-text.js';
import { type Chosen, sign } from './worked-examples.js';

/** Between the steps of a path, in names as in prompts. */
const arrow = ' → ';
/** Behind every link of a chain but the last. */
export const then = ', then';
/** Placeholder for a topic named in the question, so that its name is not taken for a relation. */
const topicWord = 'it';
/** The context block that holds the path walked. */
const pathLabel = 'Path';

/** Optional parts of a body. */
export interface PlainTask {
  question: string;
  context?: readonly ContextBlock[];
  evidence?: readonly NamedTriple[];
}

/** A body, and the same without question, history and facts, for priors. */
export interface PlainBody {
  body: string;
  /** Depends on the path walked alone: what usually follows it is no merit of a relation. */
  prior: string;
}

/**
 * What a chosen text follows: an empty beginning of a line, other context and facts a line each, then the question. Of
 * relations and chains the question has `it` for its topic, followed by the path walked.
 */
export function plainBody(chosen: Chosen, { question, context = [], evidence = [] }: PlainTask): PlainBody {
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
    prior: `\n?${sign}${links}`,
  };
}

/** A text as it follows a body. */
export function plainContinuation(text: string): string {
  return ` ${text}`;
}

/** `~film.film.directed_by` → `directed by`: a relation's words, in both directions. */
export function plainRelation(name: string): string {
  const plain = name.startsWith('~') ? name.slice(1) : name;
  const last = plain.split('.').findLast((part) => part !== '') ?? plain;
  return shownName(last.replace(/[_/\s]+/gu, ' ').trim());
}

/** Relation names as one chain: `directed by, then written by`. */
export function plainChain(names: readonly string[]): string {
  return names.map(plainRelation).join(`${then} `);
}

/** A solved question as a line, used as an example. @param topics names as the question has them */
export function plainSolved(question: string, topics: readonly string[], chain: readonly string[]): string {
  const masked = topics.reduce((text, topic) => withoutTopic(text, topic), question);
  return `${asksFor(masked)}${sign} ${plainChain(chain)}`;
}

/** `topic → relation → relation` and `relation → entity` with the relations' words; other lines as they are. */
export function plainLine(line: string): string {
  return oneLine(line).split(arrow).map(plainStep).join(arrow);
}

/** Names of relations are written with underscores or dots and without spaces; names of entities rarely are. */
function plainStep(step: string): string {
  return /^~?[\p{L}\p{N}]+(?:[_.][\p{L}\p{N}_.]+)?$/u.test(step) && /[_.~]/.test(step)
    ? plainRelation(step)
    : shownName(step);
}

/** A candidate's words. */
export function plainCandidate({ kind, text }: { kind: string; text: string }): string {
  if (kind === 'relation') return plainRelation(text);
  return kind === 'chain' ? plainChain(text.split(arrow)) : plainLine(text);
}

/** Task parts of a decision. */
export function plainTask({ question, context, evidence }: Decision): PlainTask {
  return { question, ...(context && { context }), evidence };
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

/** One question mark ends it. */
function asksFor(question: string): string {
  return `${question.replace(/(?<![\s?])[\s?]+$/u, '')}?`;
}

/**
 * Topics are names, or several with commas between them if the whole is not itself a name; brackets around them go
 * too. Letter case is ignored. Only the first mention of each name is replaced, as a whole word.
 */
function withoutTopic(question: string, topic: string): string {
  const plain = oneLine(question);
  const whole = withoutNames(plain, [topic]);
  return whole === plain ? withoutNames(plain, topic.split(', ')) : whole;
}

/** Letters and digits that end a word where they begin: of scripts that write no spaces, or hang endings on, none do. */
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
