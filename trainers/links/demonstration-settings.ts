/** Settings of what a walker of link queries is shown: the `demonstrations` section of a configuration file. */
import { z } from 'zod';

/** The `demonstrations` section of a configuration file. */
export const demonstrationSettings = z.strictObject({
  paths: z
    .int()
    .min(1)
    .max(100)
    .default(5)
    .describe('Shortest paths from head to answer that are shown of a query, drawn evenly where there are more.'),
  queries: z
    .int()
    .min(1)
    .nullable()
    .default(null)
    .describe('Queries of train that are shown, drawn evenly; null: all.'),
});

/** Every setting with its value. */
export type DemonstrationSettings = z.output<typeof demonstrationSettings>;
