/** The `data` section of a configuration. */
import { z } from 'zod';

export const dataSettings = z.strictObject({
  dataset: z.string().min(1).default('opendialkg').describe('Name of an imported data set (`kgwalk datasets list`).'),
  graph: z
    .string()
    .min(1)
    .default('dialogue')
    .describe(
      'Which graph of the dialogues to walk (questions have their own): for opendialkg `dialogue` (restricted to the entities of its dialogues, so easier than life) or `wide` (with real distractors). Results on different graphs do not compare.',
    ),
  turns: z
    .enum(['all', 'assistant'])
    .default('all')
    .describe('Whose paths become samples: everybody’s, or only those chosen by the assistant.'),
  maxDialogues: z
    .int()
    .min(1)
    .nullable()
    .default(null)
    .describe(
      'Only the first dialogues of every split, for quick tries; null: all. Numbers of a part say little of the whole.',
    ),
  oracle: z
    .enum(['reply'])
    .nullable()
    .default(null)
    .describe(
      'reply: what is said last is what the speaker says after choosing the path, in training and whenever the run is asked: no walker may know it, and every record says so. It tells how much of a gold its own words give away; null: an honest task.',
    ),
  fold: z
    .string()
    .regex(/^[1-9]\d*\/[1-9]\d*$/, 'expected K/N such as 1/2')
    .refine((text) => Number(text.split('/')[0]) <= Number(text.split('/')[1]), 'expected K of at most N')
    .refine((text) => !text.endsWith('/1'), 'expected two folds or more')
    .nullable()
    .default(null)
    .describe(
      'K/N: of N folds of the train dialogues, drawn by their ids, leave the Kth out of training and of all that is counted over train, so that its turns can be judged by a run that never saw them (`kgwalk datasets check NAME --agreement --run A --run B`); null: none.',
    ),
  trainSamples: z
    .int()
    .min(1)
    .nullable()
    .default(null)
    .describe(
      'Train on a seeded draw of so many samples of dialogues, questions, or triples of link data, the same for every seed of a run; null: all. What is counted over train (popular targets, seen targets) is counted over the draw.',
    ),
  validSamples: z
    .int()
    .min(1)
    .nullable()
    .default(null)
    .describe(
      'Of valid, too, a seeded draw of so many samples of dialogues, or triples of link data: in training and in `kgwalk evaluate RUN --split valid`; null: all. Test is never cut.',
    ),
  subsets: z
    .union([z.literal('all'), z.array(z.string().min(1)).min(1)])
    .default('all')
    .describe('Which parts of a question data set, such as [2-hop, 3-hop].'),
  holdOut: z
    .union([z.enum(['question', 'template', 'type']), z.templateLiteral(['type:', z.int().min(0).max(999_999_999)])])
    .default('question')
    .describe(
      'What train shares with neither valid nor test: the questions, their templates (the text without its topic), or, for test alone, their types: those that the data set names, or with type:N those of draw N.',
    ),
});

/** All settings with their values. */
export type DataSettings = z.output<typeof dataSettings>;

/** Walks suggested by turns without annotation: `clone.linkedTurns`, also read when loading a run. */
export const linkedTurnSettings = z.strictObject({
  weight: z
    .number()
    .positive()
    .max(1)
    .default(0.5)
    .describe('Weight of a linked turn in the loss; annotated turns have 1.'),
  inCounts: z
    .boolean()
    .default(true)
    .describe('Whether their walks are in the counts of train walks (walker.trainCounts) as well.'),
});

/** All settings with their values. */
export type LinkedTurnSettings = z.output<typeof linkedTurnSettings>;
