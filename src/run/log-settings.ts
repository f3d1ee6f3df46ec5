/** Settings of what a run writes down besides its metrics. */
import { z } from 'zod';

/** The `log` section of a configuration file. */
export const logSettings = z.strictObject({
  tensorboard: z
    .boolean()
    .default(false)
    .describe(
      'Write TensorBoard event files beside the metrics. They hold wall clock, so their bytes differ between equal runs.',
    ),
});
