/** Dialogues grounded in a graph by name: common form of all importers. */

import { z } from 'zod';

/** Speaker. */
export type Sender = 'user' | 'assistant';

/** A message. */
export type Message = { sender: Sender; text: string };

/** Path chosen by a speaker before a message. */
export interface PathAction {
  sender: Sender;
  /** Number of messages before the action. */
  position: number;
  /** [head, relation, tail] names, in walking order. */
  triples: [string, string, string][];
}

/** Conversation with its chosen paths. */
export interface Dialogue {
  /** Unique in its data set, such as `train-17`: file stem and data row, from 1. */
  id: string;
  messages: Message[];
  paths: PathAction[];
}

const sender = z.enum(['user', 'assistant']);

/** Schema of a line of `dialogues.<split>.jsonl`. */
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
