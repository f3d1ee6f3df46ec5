/**
 * A decision as plain text that a model goes on with: no list, no number, no JSON. Small models continue patterns; they
 * do not look lines up. The embedded model is trained on documents of the same form.
 */
import type { ContextBlock, Decision, NamedTriple } from '../../decision.js';
import { oneLine, shownName } from '../prompt-text.js';
import { type Chosen, labels } from './worked-examples.js';

/** Between the steps of a path, in names as in prompts. */
const arrow = ' → ';

/** What stands in a body besides what is asked for. */
export interface PlainTask {
  question: string;
  context?: readonly ContextBlock[];
  evidence?: readonly NamedTriple[];
  /** Of a `match`: what the candidates are to speak for. */
  clue?: string;
}

/** The body of a decision, up to the label that the chosen text follows; it begins with an empty line, as examples do. */
export function plainBody(chosen: Chosen, { question, context = [], evidence = [], clue }: PlainTask): string {
  const facts = evidence.map(([head, relation, tail]) =>
    [head, plainRelation(relation), tail].map(shownName).join(' '),
  );
  const blocks = [
    ...context.map(({ label, lines }) => ({ label, lines: lines.map(plainLine) })),
    { label: 'Facts', lines: facts },
    { label: 'Clue', lines: clue === undefined ? [] : [oneLine(clue)] },
  ];
  const shown = blocks.filter(({ lines }) => lines.length > 0);
  return [
    '\n',
    `Question: ${oneLine(question)}`,
    ...shown.map(({ label, lines }) => `${oneLine(label)}: ${lines.join('; ')}`),
    `${labels[chosen]}:`,
  ].join('\n');
}

/** The body that tells how likely a text is by itself: the same for every question. */
export function priorBody(chosen: Chosen): string {
  return plainBody(chosen, { question: '?' });
}

/** A text as it follows its label. */
export function plainContinuation(text: string): string {
  return ` ${text}`;
}

/** `~film.film.directed_by` → `directed by`: a relation's words, whichever way it is followed. */
export function plainRelation(name: string): string {
  const plain = name.startsWith('~') ? name.slice(1) : name;
  const last = plain.split('.').findLast((part) => part !== '') ?? plain;
  return shownName(last.replace(/[_/\s]+/gu, ' ').trim());
}

/** Relation names as one chain: `directed by, then written by`. */
export function plainChain(names: readonly string[]): string {
  return names.map(plainRelation).join(', then ');
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

/** What a decision shows of its task. */
export function plainTask({ question, context, evidence }: Decision): PlainTask {
  return { question, ...(context && { context }), evidence };
}
