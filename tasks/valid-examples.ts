/** Examples of what a run may be asked: from the valid split of its data set. */
import type { Sample } from '../evaluation/score.js';
import type { RunInfo } from '../src/run/records.js';
import { usualFlags } from './flags.js';
import { type AnyTask, lacks } from './index.js';
import type { AskedFields, Data } from './task.js';

/** Characters of an example. */
const longestExample = 160;

/**
 * The samples' distinct short questions in the order of the split, and the data that they are of.
 * @param limit samples among which they are chosen, drawn with a fixed seed
 * @throws WorkbenchError `usage` for a task without questions, `data` for a data set that is gone or has no valid split
 */
export async function validExamples(
  task: AnyTask,
  run: RunInfo,
  limit: number,
): Promise<{ examples: AskedFields[]; data: Data<Sample> }> {
  const { fieldsOf } = task.ask ?? lacks('something to ask', 'an environment of episodes');
  const data = await task.data({ ...usualFlags, split: 'valid', limit: String(limit) }, [run]);
  const asked = (data.samples as readonly Sample[]).flatMap((sample): AskedFields | [] => fieldsOf(sample, data) ?? []);
  const isShort = (fields: object) => Object.values(fields).every(({ length }: string) => length <= longestExample);
  const distinct = new Map(asked.filter(isShort).map((fields) => [JSON.stringify(fields), fields]));
  return { examples: [...distinct.values()], data };
}
