/** A question as it stands on disk: names only, so that it survives any numbering of the graph. */
import { z } from 'zod';
import type { Graph } from '../../src/kg/graph.js';
import type { QuestionSample } from '../question.js';

/** One line of a questions file. Importers make these; `writeQuestionDataset` checks and stores them. */
export interface StoredQuestion {
  /**
   * Unique in the data set, such as `2-1987`, and stable: hash partitions are made of it, so never count dropped items
   * out of it. Conventions: subset, then the line (from 0) of the source file.
   */
  id: string;
  /** Plain text: brackets and other markers removed. */
  question: string;
  /** Spans in UTF-16 units [begin, end) of `question`. A topic may be missing from the graph: it is kept and counted. */
  topics: readonly { name: string; span?: readonly [begin: number, end: number] }[];
  /** Distinct names as the graph writes them; empty for `truth` questions. */
  answers: readonly { name: string; aliases?: readonly string[] }[];
  /** Relation names from topic to answer, direction-qualified (`~directed_by`); one entry a known chain. */
  chains?: readonly (readonly string[])[];
  /** Question type, such as `actor_to_movie_to_year`. */
  type?: string;
  /** Only where the data set's own split tells agents the number of relations. */
  hops?: number;
  /** Default `entities`. */
  form?: 'entities' | 'truth';
  /** Of a `truth` question. */
  truth?: boolean;
  /** Of a `truth` question: name of the claimed end. */
  claimed?: string;
  /** Questions of one group (paraphrases of one fact) share every hash partition. Default: the id. */
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

/** Whether a place, where there is one, is a part of the text. */
export function isWithin(span: readonly [begin: number, end: number] | undefined, { length }: string): boolean {
  return !span || (0 <= span[0] && span[0] < span[1] && span[1] <= length);
}

/**
 * Gives a stored question its ids. Chains with a relation that the graph lacks are left out.
 * @param topicsReturn the data set's rule
 */
export function sampleOf(stored: StoredQuestion, subset: string, graph: Graph, topicsReturn: boolean): QuestionSample {
  const { id, question, topics, answers, chains = [], type, hops, form = 'entities', truth, claimed } = stored;
  return {
    task: {
      id,
      subset,
      question,
      topics: topics.map((topic) => ({ ...topic, entity: graph.entityId(topic.name) })),
      ...(topicsReturn && { topicsReturn }),
      ...(hops !== undefined && { hops }),
      form,
    },
    gold: {
      answers: answers.map((answer) => ({ ...answer, entity: graph.entityId(answer.name) })),
      ...(truth !== undefined && { truth }),
      ...(claimed !== undefined && { claimed: graph.entityId(claimed) }),
      chains: chains
        .map((chain) => chain.map((relation) => graph.relationId(relation)))
        .filter((chain) => chain.every((relation) => relation >= 0)),
      ...(type !== undefined && { type }),
    },
  };
}

/**
 * Takes the brackets of MetaQA's notation away: `who directed [Heat]` → plain text, and each bracketed name with its place. Brackets
 * that are empty or not closed stay as text; a bracket within brackets belongs to the name.
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

/**
 * A topic with the place of its first mention: with this case, else in any, bounded by something that is no letter or digit.
 * Without a place where the text does not show it.
 */
export function locatedTopic(question: string, name: string): StoredQuestion['topics'][number] {
  const lower = question.toLowerCase();
  // Lower case may be longer ("İ"): places would shift.
  const begin =
    mention(question, name) ?? (lower.length === question.length ? mention(lower, name.toLowerCase()) : undefined);
  return begin === undefined ? { name } : { name, span: [begin, begin + name.length] };
}

function mention(text: string, name: string): number | undefined {
  if (name === '') return undefined;
  for (let at = text.indexOf(name); at >= 0; at = text.indexOf(name, at + 1)) {
    // The letter beside it takes at most two units; what lies further would cost the square of the text.
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
