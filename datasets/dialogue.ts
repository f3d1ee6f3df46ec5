/** Dialogues grounded in a graph, as names: the neutral shape between a release's files and samples. */

/** Who says or chooses something. */
export type Sender = 'user' | 'assistant';

/** One thing that was said. */
export interface Message {
  sender: Sender;
  text: string;
}

/** A path that a speaker chose before saying something. */
export interface PathAction {
  sender: Sender;
  /** How many messages had been said before the action. */
  position: number;
  /** [head, relation, tail] names, in walking order. */
  triples: [string, string, string][];
}

/** One conversation with the paths chosen in it. */
export interface Dialogue {
  /** Unique in its data set, such as `train-17`: file stem and data row, from 1. */
  id: string;
  messages: Message[];
  /** In the order of the dialogue. */
  paths: PathAction[];
}
