/** Commands as a person can paste them: quoted for the shell, with paths from where they stand. */
import { basename, isAbsolute, relative } from 'node:path';
import { argv, cwd, env } from 'node:process';

let name = 'kgwalk';

/** Called by the program as it begins: says the rest of this file, and all hints, how the program was called. */
export function nameProgram(script = argv[1], variables: NodeJS.ProcessEnv = env): void {
  // Through npx, and from a clone, there is no `kgwalk` on the path.
  const onPath = basename(script ?? '') === 'kgwalk' && variables.npm_command !== 'exec';
  name = onPath ? 'kgwalk' : 'npx kgwalk';
}

/** `kgwalk`, or `npx kgwalk` where it was called so. */
export const programName = (): string => name;

/** Commands in a text, as `kgwalk train …` or in backticks, by the name under which the program was called. */
export function asCalled(text: string): string {
  return name === 'kgwalk' ? text : text.replace(/(^|[`:] ?|or |, )kgwalk (?=[a-z])/gm, `$1${name} `);
}

let typed: readonly string[] | undefined;

/** Called by the program when a command begins. @param words what followed the program's name */
export function rememberCommand(words: readonly string[]): void {
  typed = words;
}

/** The command that this process carries out, with more words behind it; undefined inside somebody's own program. */
export function commandWith(...words: readonly string[]): string | undefined {
  return typed && commandLine(...typed, ...words);
}

/** The program, as it was called, with these words behind it. */
export function commandLine(...words: readonly string[]): string {
  return [name, ...words.map(shellWord)].join(' ');
}

/** A word as a POSIX shell reads it again. */
export function shellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

/** A path as one would type it here: relative where it lies below the working folder, else absolute. */
export function shownPath(path: string): string {
  const near = relative(cwd(), path);
  return near === '' ? '.' : near.startsWith('..') || isAbsolute(near) ? path : near;
}
