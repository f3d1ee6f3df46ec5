/** A decision as a prompt: short and plain, because small models read it at a few hundred tokens a second. */
import type { ChainsReply, Decision, Example, PathsDecision, ReplyOf, RewriteReply } from '../decision.js';
import { arrow, joinedLines, numberedLines, offeredTexts, oneLine, pathText, shownTriple } from './prompt-text.js';
import { replyForm, writeReply } from './reply-forms.js';

/** The three parts of a prompt, in their order. */
export interface Prompt {
  system: string;
  /** Task and examples: what is the same for every question of a phase. Ends in an empty line. */
  head: string;
  /** Question, context, facts and candidates; ends in `Reply:`. */
  body: string;
}

const system = 'You do small tasks about questions and facts, and you reply with JSON only.';

/** The prompt of a decision. O(its text). */
export function renderPrompt(decision: Decision): Prompt {
  const { instruction, limits } = replyForm(decision);
  const examples = decision.examples.map(
    (example) => `Example\n${solved(decision, example as Example<ReplyOf<Decision>>)}`,
  );
  const head = [`${oneLine(decision.task)}\n${instruction(decision)}`, ...examples, ''].join('\n\n');
  const reminder = ['Reply with JSON only.', ...(limits ? [limits(decision)] : [])].join(' ');
  return { system, head, body: ['Task', stated(decision), reminder, 'Reply:'].join('\n') };
}

/** One line that goes behind the body when the first reply could not be read. */
export function reAskReminder(decision: Decision): string {
  return `The last reply could not be read. ${replyForm(decision).instruction(decision)} Write nothing else.`;
}

function solved(decision: Decision, example: Example<ReplyOf<Decision>>): string {
  const own = exampleDecision(decision, example);
  return `${stated(own)}\nReply: ${writeReply(own, example.reply)}`;
}

/** Common part of a prompt and its examples. The question comes first: calls that share it share its tokens. */
function stated(decision: Decision): string {
  return [
    `Question: ${oneLine(decision.question)}`,
    ...(decision.context ?? []).flatMap(({ label, lines }) => section(oneLine(label), lines.map(oneLine))),
    ...section('Facts', decision.joinFacts ? joinedLines(decision.evidence) : decision.evidence.map(shownTriple)),
    ...section('Candidates', numberedLines(offeredTexts(decision))),
    ...section('Paths', decision.kind === 'paths' ? decision.allowed.map((path) => pathText(decision, path)) : []),
    ...section('Targets', decision.kind === 'match' ? numberedLines(decision.targets) : []),
  ].join('\n');
}

function section(label: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : [`${label}:`, ...lines];
}

/** The decision that an example solves: the same kind and phase, its own question, evidence and candidates. */
export function exampleDecision(decision: Decision, example: Example<ReplyOf<Decision>>): Decision {
  const candidates = (example.candidates ?? []).map((text) => ({ kind: 'text' as const, text }));
  const { question, evidence = [], context = [] } = example;
  const own = { question, evidence, context, examples: [] };
  switch (decision.kind) {
    case 'extract':
      return { ...decision, ...own };
    case 'choose-one':
    case 'choose-many':
    case 'score':
    case 'judge':
      return { ...decision, ...own, candidates };
    case 'match':
      return { ...decision, ...own, candidates, targets: example.targets ?? [] };
    case 'answer':
      return decision.allowed ? { ...decision, ...own, allowed: example.candidates ?? [] } : { ...decision, ...own };
    case 'rewrite':
      return { ...decision, ...own, count: (example.reply as RewriteReply).texts.length };
    case 'paths':
      return { ...decision, ...own, ...pathsOf(example.candidates ?? []) };
    case 'chains': {
      const { chains } = example.reply as ChainsReply;
      return { ...decision, ...own, allowed: chains, count: chains.length, hops: chains[0]?.length ?? decision.hops };
    }
  }
}

function pathsOf(texts: readonly string[]): Pick<PathsDecision, 'allowed' | 'entityName' | 'relationName'> {
  const ids = new Map<string, number>();
  const idOf = (name: string) => ids.get(name) ?? ids.set(name, ids.size).size - 1;
  const allowed = texts.map((text) => {
    const names = text.split(arrow).map(idOf);
    return Array.from(
      { length: (names.length - 1) / 2 },
      (_, hop) => [names[2 * hop]!, names[2 * hop + 1]!, names[2 * hop + 2]!] as const,
    );
  });
  const nameOf = (id: number) => [...ids.keys()][id]!;
  return { allowed, entityName: nameOf, relationName: nameOf };
}
