/** Output streams that vanish during work: a terminal, a reader, the disk under a log. On the built program. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { env, execPath } from 'node:process';
import { setTimeout } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import { openRun } from '../../src/run/run-folder.js';
import { useReleaseHome } from '../fixtures/release-home.js';
import { tinyOverrides } from '../fixtures/tiny-training.js';

const home = useReleaseHome();
const full = '/dev/full';
const hasPython = spawnSync('python3', ['-c', 'import pty']).status === 0;
const main = 'dist/cli/main.js';
const training = (folder: string, ...more: string[]) => [
  ...[main, 'train', 'opendialkg-tiny', '--progress', 'plain', '--run-dir', folder],
  ...[...tinyOverrides, 'transe.enabled=false', 'ppo.enabled=false', ...more].flatMap((one) => ['--set', one]),
];

/** Runs a program whose terminal closes as soon as it has said something. */
const closingTerminal = `
import os, pty, subprocess, sys
ours, theirs = pty.openpty()
program = subprocess.Popen(sys.argv[1:], stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True)
os.close(theirs)
os.read(ours, 10)
os.close(ours)
code = program.wait()
sys.exit(code if code >= 0 else 100 - code)
`;

(hasPython ? test : test.skip)('a terminal that closes ends no training, and the program ends as it should', () => {
  const folder = resolve(home(), 'terminal');
  const { status } = spawnSync('python3', ['-c', closingTerminal, execPath, ...training(folder)], { env });
  expect(openRun(folder).state.status).toBe('finished');
  expect(status).toBe(0);
});

test('SIGHUP saves and ends with 130, also where the shell had it ignored', async () => {
  const folder = resolve(home(), 'hangup');
  const words = training(folder, 'clone.epochs=1000');
  const child = spawn('sh', ['-c', `trap '' HUP; exec "$@"`, 'sh', execPath, ...words], { env, stdio: 'ignore' });
  const ended = once(child, 'close') as Promise<[number, string | null]>;
  while (!existsSync(join(folder, 'checkpoints/index.json')) && child.exitCode === null) await setTimeout(20);
  child.kill('SIGHUP');
  expect(await ended).toEqual([130, null]);
  expect(openRun(folder).state).toMatchObject({ status: 'stopped', phase: 'clone' });
});

describe('a reader of standard error', () => {
  test('that leaves ends no training', async () => {
    const folder = resolve(home(), 'left');
    const child = spawn(execPath, training(folder), { env, stdio: ['ignore', 'ignore', 'pipe'] });
    child.stderr.once('data', () => child.stderr.destroy());
    expect(await once(child, 'close')).toEqual([0, null]);
    expect(openRun(folder).state.status).toBe('finished');
  });

  (existsSync(full) ? test : test.skip)('that is a full disk ends no training', () => {
    const folder = resolve(home(), 'no-room');
    const { status, stdout } = into(full, 'stderr', training(folder));
    expect(status).toBe(0);
    expect(stdout.trim()).toBe(folder);
    expect(openRun(folder).state.status).toBe('finished');
  });
});

(existsSync(full) ? describe : describe.skip)('standard output on a full disk', () => {
  test.each([[[]], [['--json']]])('is one clear error, %j', (words) => {
    const { status, stderr } = into(full, 'stdout', [main, 'datasets', 'list', ...words]);
    expect(status).toBe(1);
    expect(stderr).toContain('expected a place for what is printed, got ENOSPC, at standard output');
    expect(stderr.trim().split('\n').length).toBeLessThanOrEqual(2);
  });

  test('ends no training: it is said, and the run is finished', () => {
    const folder = resolve(home(), 'unprinted');
    const { status, stderr } = into(full, 'stdout', training(folder));
    expect(status).toBe(1);
    expect(stderr.match(/^error: /gm)).toHaveLength(1);
    expect(openRun(folder).state.status).toBe('finished');
  });
});

test('a reader of standard output that has enough is no failure', async () => {
  const child = spawn(execPath, [main, 'datasets', 'list'], { env, stdio: ['ignore', 'pipe', 'ignore'] });
  child.stdout.destroy();
  expect(await once(child, 'close')).toEqual([0, null]);
});

function into(file: string, stream: 'stdout' | 'stderr', words: readonly string[]) {
  const descriptor = openSync(file, 'w');
  try {
    const stdio = stream === 'stdout' ? ['ignore', descriptor, 'pipe'] : ['ignore', 'pipe', descriptor];
    return spawnSync(execPath, words, { env, encoding: 'utf8', stdio: stdio as ['ignore', number, 'pipe'] });
  } finally {
    closeSync(descriptor);
  }
}
