/** What stands between the fields of a file of triples that a user made. */
import { readLines } from '../src/kg/read-lines.js';

/** TAB, or `|` where the first line that is not empty has no TAB. @throws WorkbenchError `data` for an unreadable file */
export async function separatorOf(file: string): Promise<string> {
  let first: string | undefined;
  await readLines(file, 'triples', (text) => {
    if (text !== '') first ??= text;
  });
  return first === undefined || first.includes('\t') ? '\t' : '|';
}
