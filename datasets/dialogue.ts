/** Dialogues grounded in a graph, as names: the neutral shape between a release's files and samples. */

import { z } from 'zod';

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

const sender = z.enum(['user', 'assistant']);

/** The shape of a line of `dialogues.<split>.jsonl`. */
export const dialogueSchema: z.ZodType<Dialogue> = z.strictObject({
  id: z.string(),
  messages: z.array(z.strictObject({ sender, text: z.string() })),
  paths: z.array(
    z.strictObject({
      sender,
      position: z.int().min(0),
      triples: z.array(z.tuple([z.string(), z.string(), z.string()])).min(1),
    }),
  ),
});
