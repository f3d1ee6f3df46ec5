/** Interface between the two scripts of an exported page: the agent, and the view of it. */

/** Texts of a question, by field of the form. */
export type Fields = Readonly<Record<string, string>>;

/** A hop in names. */
type Hop = readonly [head: string, relation: string, tail: string];

/** An answer, best first. */
export interface PageAnswer {
  text: string;
  /** Probability, log-probability or number of walks: what the ranking goes by. */
  score: number;
  /** The score in words. */
  shown: string;
  /** In (0, 1], where the score is a probability: width of the bar. */
  share?: number;
  /** Why, where that is more than the walk. */
  from?: string;
  /** Empty where none leads there. */
  walk: readonly Hop[];
}

/** Answers to one question, with sentences about all of them. */
export interface PageReply {
  answers: PageAnswer[];
  /** Probability of the walk that leads to all of them, where it is one. */
  probability?: number;
  notes: string[];
}

/** Facts of the page. */
export interface PageAbout {
  run: string;
  /** Kind of agent, a part of a sentence. */
  kind: string;
  /** Names and values. */
  facts: Readonly<Record<string, string>>;
  /** Fields of the form, in order. */
  fields: readonly ('question' | 'start' | 'head' | 'relation')[];
  /** Which texts can be asked, a sentence. */
  texts: string;
  examples: readonly Fields[];
}

/** The agent of the page. */
export interface PageAgent {
  about: PageAbout;
  /** @throws Error with a `hint` for a question that it cannot read */
  ask(fields: Fields): Promise<PageReply>;
  /** Names that a field takes. */
  names(field: string): readonly string[];
  /** SVG of the walk to an answer, on top of those to others; empty where none leads there. @param chosen place of the answer */
  draw(reply: PageReply, chosen: number): string;
}
