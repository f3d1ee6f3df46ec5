/** The little shell that the documentation speaks: comments, `\` at the end of a line, `&&`, quotes. */

/** The commands of a block, each on one line, without comments. */
export function commandLines(text: string): string[] {
  return text
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
    .flatMap((line) => line.replace(/(^|\s)#.*$/, '').split(' && '))
    .map((line) => line.trim())
    .filter((line) => line !== '');
}

/** The words of a command as the shell hands them over. */
export function shellWords(line: string): string[] {
  return [...line.matchAll(/(?:"[^"]*"|'[^']*'|[^\s"'])+/g)].map(([word]) => word.replaceAll(/["']/g, ''));
}

/** True if a line needs shell features that this file lacks: variables, pipes, files. */
export function isBeyondUs(line: string): boolean {
  return /[$|<>;`]/.test(line.replaceAll(/"[^"$`]*"|'[^']*'/g, ''));
}

/** Arguments of a line that calls `kgwalk`, with or without `npx`. */
export function kgwalkWords(line: string): string[] | undefined {
  const words = shellWords(line);
  if (words[0] === 'npx') words.shift();
  return words.shift() === 'kgwalk' ? words : undefined;
}
