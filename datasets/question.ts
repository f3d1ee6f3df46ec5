/** What a question-answering agent is asked and what it is scored against, kept apart: agents get the task alone. */

/** An entity that a question is about, as the data set gives it. */
export interface Topic {
  /** As the graph writes it. */
  name: string;
  /** Entity id, or `unknownId` where the graph lacks it. */
  entity: number;
  /** Where its mention stands in the question, UTF-16 units [begin, end); absent where the text does not show it. */
  span?: readonly [begin: number, end: number];
}

/** What an agent is asked. */
export interface QuestionTask {
  /** Unique in its data set and stable, such as `2-1987`: subset, then the line (from 0) of the release's file. */
  id: string;
  /** Part of the data set, such as `2-hop`. */
  subset: string;
  /** Plain text: no brackets, no markers. */
  question: string;
  /** Empty for agents that are not told. */
  topics: readonly Topic[];
  /** Whether walks may come back to a topic, and end there. Default false, as in MetaQA; PathQuestion's gold paths do. */
  topicsReturn?: boolean;
  /** Relations from topic to answer, where the data set's own split tells it (MetaQA); absent elsewhere and where withheld. */
  hops?: number;
  /** `entities`: which; `truth`: whether. */
  form: 'entities' | 'truth';
}

/** A right answer. */
export interface GoldAnswer {
  name: string;
  /** Entity id, or `unknownId` for literals and names that the graph lacks. */
  entity: number;
  aliases?: readonly string[];
}

/** What an answer is scored against. */
export interface QuestionGold {
  /** Distinct. Empty for `truth` questions, and for questions that have no answer, which are left out and counted. */
  answers: readonly GoldAnswer[];
  /** Of a `truth` question: whether it holds. */
  truth?: boolean;
  /** Of a `truth` question: the claimed end of the chain. */
  claimed?: number;
  /** Relation sequences (ids, direction-qualified) that lead from the topics to the answers; empty where unknown. */
  chains: readonly (readonly number[])[];
  /** Question type, such as `actor_to_movie_to_year`. */
  type?: string;
}

/** A task with its gold. */
export interface QuestionSample {
  task: QuestionTask;
  gold: QuestionGold;
}

/** Entity ids that must leave every frontier: the topics, unless this data set's gold paths come back to them. */
export function excludedTopics({
  topics,
  topicsReturn = false,
}: Pick<QuestionTask, 'topics' | 'topicsReturn'>): number[] {
  return topicsReturn ? [] : topics.map(({ entity }) => entity).filter((entity) => entity >= 0);
}

/** The question with every topic mention as `[E]`: what templates, memories and question vectors are made of. */
export function maskedQuestion({
  question,
  topics,
}: {
  question: string;
  topics: readonly Pick<Topic, 'span'>[];
}): string {
  const spans = topics.flatMap(({ span }) => (span ? [span] : [])).sort(([a], [b]) => b - a);
  return spans.reduce((text, [begin, end]) => `${text.slice(0, begin)}[E]${text.slice(end)}`, question);
}
