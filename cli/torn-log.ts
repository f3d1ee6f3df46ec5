/** What is said of a log whose last line a crash left unfinished. */
import { basename } from 'node:path';
import { printNote } from './output.js';

/** Says that such a line was cut off; nothing for a log that was whole. @param bytes of the unfinished line */
export function tellTorn(file: string, bytes: number): void {
  if (bytes > 0) printNote(`${basename(file)}: cut off a last line that a crash left unfinished (${bytes} bytes)`);
}
