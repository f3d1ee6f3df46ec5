/** Questions as stored on disk: by name only, so that they are independent of graph ids. */
import { z } from 'zod';
import type { Graph } from '../../src/kg/graph.js';
import type { QuestionSample } from '../question.js';

/** One line of a questions file. Made by importers; validated and stored by `writeQuestionDataset`. */
export interface StoredQuestion {
  /**
   * Unique, such as `2-1987`, and stable: hash partitions depend on it, so it must not count dropped items. Convention: subset, then the
   * line (from 0) of the source file.
   */
  id: string;
  /** Plain text without brackets and other markers. */
  question: string;
  /** Spans in UTF-16 units [begin, end) of `question`. Topics missing from the graph are kept and counted. */
  topics: readonly { name: string; span?: readonly [begin: number, end: number] }[];
  /** Distinct names as in the graph; empty for `truth` questions. */
  answers: readonly { name: string; aliases?: readonly string[] }[];
  /** Relation names from topic to answer, direction-qualified (`~directed_by`); one entry per known chain. */
  chains?: readonly (readonly string[])[];
  /** Question type, such as `actor_to_movie_to_year`. */
  type?: string;
  /** Only if the data set's split reveals the number of relations to agents. */
  hops?: number;
  /** Default `entities`. */
  form?: 'entities' | 'truth';
  /** For `truth` questions. */
  truth?: boolean;
  /** For `truth` questions: name of the claimed end. */
  claimed?: string;
  /** Questions of a group (paraphrases of a fact) share every hash partition. Default: the id. */
  group?: string;
}

const text = z.string();

export const storedQuestionSchema: z.ZodType<StoredQuestion> = z
  .strictObject({
    id: text,
    question: text,
    topics: z.array(z.strictObject({ name: text, span: z.tuple([z.int().min(0), z.int()]).optional() })),
    answers: z.array(z.strictObject({ name: text, aliases: z.array(text).optional() })),
    chains: z.array(z.array(text)).optional(),
    type: text.optional(),
    hops: z.int().optional(),
    form: z.enum(['entities', 'truth']).optional(),
    truth: z.boolean().optional(),
    claimed: text.optional(),
    group: text.optional(),
  })
  .refine(({ question, topics }) => topics.every(({ span }) => isWithin(span, question)), {
    message: 'a topic stands within its question',
  });

export const aliasesSchema = z.strictObject({ entity: text, names: z.array(text) });

/** True if a span is absent or lies within the text. */
export function isWithin(span: readonly [begin: number, end: number] | undefined, { length }: string): boolean {
  return !span || (0 <= span[0] && span[0] < span[1] && span[1] <= length);
}

/** Resolves names to graph ids. Chains with a relation missing from the graph are dropped. @param topicsReturn rule of the data set */
export function sampleOf(stored: StoredQuestion, subset: string, graph: Graph, topicsReturn: boolean): QuestionSample {
  const { id, question, topics, answers, chains = [], type, hops, form = 'entities', truth, claimed } = stored;
  return {
    task: {
      ...{ id, subset, question },
      topics: topics.map((topic) => ({ ...topic, entity: graph.entityId(topic.name) })),
      ...{ topicsReturn: topicsReturn || undefined, hops, form },
    },
    gold: {
      answers: answers.map((answer) => ({ ...answer, entity: graph.entityId(answer.name) })),
      truth,
      claimed: claimed === undefined ? undefined : graph.entityId(claimed),
      chains: chains
        .map((chain) => chain.map((relation) => graph.relationId(relation)))
        .filter((chain) => chain.every((relation) => relation >= 0)),
      type,
    },
  };
}

/**
 * Removes the brackets of MetaQA's notation: `who directed [Heat]` → plain text, and each bracketed name with its span. Empty or unclosed
 * brackets stay as text; nested brackets belong to the name.
 */
export function markedTopics(text: string): Pick<StoredQuestion, 'question' | 'topics'> {
  const topics: StoredQuestion['topics'][number][] = [];
  let question = '';
  let read = 0;
  while (read < text.length) {
    const open = text.indexOf('[', read);
    const close = open < 0 ? -1 : closingBracket(text, open);
    if (close < 0) break;
    question += text.slice(read, open);
    const name = text.slice(open + 1, close);
    if (name.trim() === '') question += text.slice(open, close + 1);
    else {
      topics.push({ name, span: [question.length, question.length + name.length] });
      question += name;
    }
    read = close + 1;
  }
  return { question: question + text.slice(read), topics };
}

/** Topic with the span of its first mention: in this case, else in any, bounded by non-alphanumerics. No span if the text lacks it. */
export function locatedTopic(question: string, name: string): StoredQuestion['topics'][number] {
  const lower = question.toLowerCase();
  // Lower case may be longer ("İ") and shift spans.
  const begin =
    mention(question, name) ?? (lower.length === question.length ? mention(lower, name.toLowerCase()) : undefined);
  return begin === undefined ? { name } : { name, span: [begin, begin + name.length] };
}

function mention(text: string, name: string): number | undefined {
  if (name === '') return undefined;
  for (let at = text.indexOf(name); at >= 0; at = text.indexOf(name, at + 1)) {
    // A neighbouring letter takes at most two units; a longer slice would make this quadratic.
    const before = text.slice(Math.max(0, at - 2), at);
    const after = text.slice(at + name.length, at + name.length + 2);
    if (!/[\p{L}\p{N}_]$/u.test(before) && !/^[\p{L}\p{N}_]/u.test(after)) return at;
  }
  return undefined;
}

function closingBracket(text: string, open: number): number {
  let depth = 0;
  for (let at = open; at < text.length; at++) {
    if (text[at] === '[') depth++;
    else if (text[at] === ']' && --depth === 0) return at;
  }
  return -1;
}
