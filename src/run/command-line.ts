/** Commands as a person can paste them: quoted for the shell, with paths from where they stand. */
import { isAbsolute, relative } from 'node:path';
import { cwd } from 'node:process';

let typed: readonly string[] | undefined;

/** Called by the program when a command begins. @param words what followed the program's name */
export function rememberCommand(words: readonly string[]): void {
  typed = words;
}

/** The command that this process carries out, with more words behind it; undefined inside somebody's own program. */
export function commandWith(...words: readonly string[]): string | undefined {
  return typed && commandLine(...typed, ...words);
}

/** `kgwalk` with these words behind it. */
export function commandLine(...words: readonly string[]): string {
  return ['kgwalk', ...words.map(shellWord)].join(' ');
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
