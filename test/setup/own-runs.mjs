/**
 * Before every test file: runs and evaluations that it names no folder for lie where no other file writes. A file that works
 * in a folder as a user does takes the variable away. Help and tables are as wide as without a terminal.
 */
import { randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { env, stdout } from 'node:process';

env.KGWALK_RUNS = join(tmpdir(), `kgwalk-${randomUUID()}`, 'runs');

Object.defineProperty(stdout, 'isTTY', { value: false, configurable: true, writable: true });
