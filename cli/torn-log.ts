/** What is said of a log whose last line a crash left unfinished. */
import { basename } from 'node:path';
import { stderr } from 'node:process';

/** Says that such a line was cut off; nothing for a log that was whole. @param bytes of the unfinished line */
export function tellTorn(file: string, bytes: number): void {
  if (bytes > 0) stderr.write(`${basename(file)}: cut off a last line that a crash left unfinished (${bytes} bytes)\n`);
}
