/** The examples of the documentation: every fenced block, and every command inside a sentence that can be typed as it stands. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Example {
  page: string;
  /** Line number of the first line of its text, from 1. */
  line: number;
  /** `bash`, `ts`, `json` or what else the fence says; `''` where it says nothing. */
  language: string;
  /** The nearest heading above. */
  heading: string;
  text: string;
}

/** Every page a reader is shown, as a path from the root of the repository. */
export function documentationPages(): string[] {
  const docs = readdirSync('docs', { recursive: true, encoding: 'utf8' }).map((name) => join('docs', name));
  const others = [
    'README.md',
    'CONTRIBUTING.md',
    join('models', 'demo', 'README.md'),
    join('clients', 'python', 'README.md'),
  ];
  return [...others, ...docs.sort()].filter((name) => name.endsWith('.md') && existsHere(name));
}

function existsHere(page: string): boolean {
  return readdirSync(join(page, '..')).includes(page.split(/[\\/]/).at(-1)!);
}

/** In their order on the page. `npx kgwalk …` between backticks counts as `bash`; `kgwalk …` there is a name, not an example. */
export function examplesOf(page: string): Example[] {
  const examples: Example[] = [];
  let heading = '';
  let open: (Example & { indent: string }) | undefined;
  for (const [i, line] of readFileSync(page, 'utf8').split('\n').entries()) {
    const [, indent = '', language = ''] = /^(\s*)```(\S*)\s*$/.exec(line) ?? [undefined];
    const isFence = /^\s*```/.test(line);
    if (open) {
      if (isFence) examples.push(open);
      else open.text += `${line.slice(open.indent.length)}\n`;
      if (isFence) open = undefined;
    } else if (isFence) {
      open = { page, line: i + 2, language, heading, text: '', indent };
    } else {
      heading = /^#+ (.*)/.exec(line)?.[1] ?? heading;
      for (const [, text] of line.matchAll(/`(npx kgwalk [^`]+)`/g)) {
        examples.push({ page, line: i + 1, language: 'bash', heading, text: `${text}\n` });
      }
    }
  }
  return examples;
}

/** Pages that show something to be run. */
export function pagesWithExamples(): string[] {
  return documentationPages().filter((page) => examplesOf(page).some(({ language }) => language !== ''));
}
