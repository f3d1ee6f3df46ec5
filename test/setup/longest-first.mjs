/**
 * The order of test files: those that take long begin first, so that no worker waits for another at the end. Jest knows how
 * long each took the last time on this machine; a fresh clone knows it from `long-files.json`, in seconds: measured
 * while they run in parallel. The first three collect garbage, which takes three times as long in a process that
 * holds the modules of other files.
 */
import { readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import Sequencer from '@jest/test-sequencer';

const known = JSON.parse(readFileSync(join(import.meta.dirname, 'long-files.json'), 'utf8'));

export default class LongestFirst extends Sequencer {
  /** Milliseconds; of a file that is not in the list less than of any that is, the more the longer its text. */
  time(test) {
    const { config, hasteFS } = test.context;
    const file = relative(config.rootDir, test.path).split(sep).join('/');
    return super.time(test) ?? (1000 * known[file] || (hasteFS.getSize(test.path) ?? 0) / 10);
  }
}
