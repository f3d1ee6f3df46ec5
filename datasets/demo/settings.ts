/** Settings of a demo world. */
import { z } from 'zod';

const count = z.int().min(0).max(1_000_000_000);

/** Settings of the generator; equal settings give equal bytes. */
export const demoSettings = z.strictObject({
  seed: z.int().default(1).describe('Of everything: names, facts, dialogues and questions.'),
  entities: count.min(200).default(3000).describe('About how many entities.'),
  triples: count.min(400).default(20_000).describe('About how many triples, both directions counted.'),
  dialogues: count
    .refine(
      (dialogues) => dialogues === 0 || dialogues >= 10,
      'expected 0 or at least 10, so that every split has some',
    )
    .default(1200)
    .describe('How many dialogues; 0: none.'),
  questions: count
    .default(4000)
    .describe('How many questions and statements of all four subsets; fewer where the graph has too little; 0: none.'),
});

/** All settings with their values. */
export type DemoSettings = z.output<typeof demoSettings>;
