/** Question task and gold, separate: agents only get the task. */

/** Topic entity of a question. */
export interface Topic {
  name: string;
  /** Entity id, or `unknownId` if the graph lacks it. */
  entity: number;
  /** Span of its mention in the question, UTF-16 units [begin, end); absent if not mentioned. */
  span?: readonly [begin: number, end: number];
}

/** Input of a question-answering agent. */
export interface QuestionTask {
  /** Unique and stable, such as `2-1987`: subset, then the line (from 0) of the release file. */
  id: string;
  /** Subset of the data set, such as `2-hop`. */
  subset: string;
  /** Plain text: no brackets, no markers. */
  question: string;
  /** Empty if topics are withheld. */
  topics: readonly Topic[];
  /** True if walks may return to a topic and end there. Default false, as in MetaQA; PathQuestion's gold paths do. */
  topicsReturn?: boolean;
  /** Number of relations from topic to answer, if the data set's split provides it (MetaQA); absent elsewhere and if withheld. */
  hops?: number;
  /** `entities`: answer with entities; `truth`: with true or false. */
  form: 'entities' | 'truth';
}

/** Gold answer. */
export interface GoldAnswer {
  name: string;
  /** Entity id, or `unknownId` for literals and names missing from the graph. */
  entity: number;
  aliases?: readonly string[];
}

/** Gold of a question. */
export interface QuestionGold {
  /** Distinct. Empty for `truth` questions, and for questions without answers, which are excluded and counted. */
  answers: readonly GoldAnswer[];
  /** `truth` questions: the correct verdict. */
  truth?: boolean;
  /** `truth` questions: the claimed end of the chain. */
  claimed?: number;
  /** Relation sequences (ids, direction-qualified) from topics to answers; empty if unknown. */
  chains: readonly (readonly number[])[];
  /** Question type, such as `actor_to_movie_to_year`. */
  type?: string;
}

/** A task with its gold. */
export type QuestionSample = { task: QuestionTask; gold: QuestionGold };

/** Entity ids to exclude from every frontier: the topics, unless gold paths of the data set return to them. */
export function excludedTopics({ topics, topicsReturn }: Pick<QuestionTask, 'topics' | 'topicsReturn'>): number[] {
  return topicsReturn ? [] : topics.map(({ entity }) => entity).filter((entity) => entity >= 0);
}

interface Spans extends Pick<QuestionTask, 'question'> {
  topics: readonly Pick<Topic, 'span'>[];
}

/** Question with every topic mention as `[E]`, for templates, memories and question vectors. */
export function maskedQuestion({ question, topics }: Spans): string {
  const spans = topics.flatMap(({ span }) => (span ? [span] : [])).sort(([a], [b]) => b - a);
  return spans.reduce((text, [begin, end]) => `${text.slice(0, begin)}[E]${text.slice(end)}`, question);
}
