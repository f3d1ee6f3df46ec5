/** Shell commands for messages: quoted, with relative paths, under the name by which the program was called. */
import { basename, isAbsolute, relative } from 'node:path';
import { argv, cwd, env } from 'node:process';

let name = 'kgwalk';

/** Called at start-up: sets the program name used in this file and in all hints. */
export function nameProgram(script = argv[1], variables: NodeJS.ProcessEnv = env): void {
  // Through npx, and in a clone, `kgwalk` is not on the PATH.
  const onPath = basename(script ?? '') === 'kgwalk' && variables.npm_command !== 'exec';
  name = onPath ? 'kgwalk' : 'npx kgwalk';
}

/** `kgwalk`, or `npx kgwalk` if it was called so. */
export const programName = (): string => name;

/** Replaces `kgwalk …` in a text by the name under which the program was called. */
export function asCalled(text: string): string {
  return name === 'kgwalk' ? text : text.replace(/(^|[`:] ?|or |, )kgwalk (?=[a-z])/gm, `$1${name} `);
}

let typed: readonly string[] | undefined;

/** Called when a command begins. @param words arguments after the program's name */
export function rememberCommand(words: readonly string[]): void {
  typed = words;
}

/** The running command with more words appended; undefined inside a user's program. */
export function commandWith(...words: readonly string[]): string | undefined {
  return typed && commandLine(...typed, ...words);
}

/** The program name with these arguments. */
export const commandLine = (...words: readonly string[]): string => [name, ...words.map(shellWord)].join(' ');

/** Quotes a word for a POSIX shell. */
export function shellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

/** A path as one would type it here: relative below the working folder, otherwise absolute. */
export function shownPath(path: string): string {
  const near = relative(cwd(), path);
  return near === '' ? '.' : near.startsWith('..') || isAbsolute(near) ? path : near;
}
