/** A file of a release that is one JSON value of a known shape. */
import { z } from 'zod';
import { WorkbenchError } from '../src/run/errors.js';
import { readTextFile } from '../src/run/files.js';

/**
 * @param what the release to the user, such as `WebQSP 1.0`
 * @throws WorkbenchError `data` naming the file and the first thing that does not fit
 */
export function readJsonRelease<Schema extends z.ZodType>(
  path: string,
  schema: Schema,
  what: string,
): z.output<Schema> {
  try {
    return schema.parse(JSON.parse(readTextFile(path, `questions of ${what}`)));
  } catch (cause) {
    if (cause instanceof WorkbenchError) throw cause;
    const got = cause instanceof z.ZodError ? z.prettifyError(cause).split('\n')[0] : 'damaged JSON';
    throw new WorkbenchError('data', `expected the questions of ${what}, got ${got}, at ${path}`, { cause });
  }
}
