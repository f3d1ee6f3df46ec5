/** The commands that the documentation shows exist, with the options it gives them. Runs `dist`: `npm test` builds it. */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { execPath } from 'node:process';
import { describe, expect, test } from '@jest/globals';

const pages = [
  'README.md',
  'CONTRIBUTING.md',
  ...readdirSync('docs')
    .filter((name) => name.endsWith('.md'))
    .map((name) => join('docs', name)),
];
const commands = pages.flatMap((page) =>
  [...readFileSync(page, 'utf8').matchAll(/npx kgwalk ([^`#\n]+)/g)].map((match) => match[1]!.trim()),
);

const helps = new Map<string, string>();
/** The help of a command, asked for once. */
function helpOf(...words: string[]): string {
  const key = words.join(' ');
  if (!helps.has(key)) {
    const { status, stdout } = spawnSync(execPath, ['dist/cli/main.js', ...words, '--help'], { encoding: 'utf8' });
    helps.set(key, status === 0 ? stdout : '');
  }
  return helps.get(key)!;
}

describe('the documentation', () => {
  test('shows commands', () => expect(commands.length).toBeGreaterThan(8));

  test.each([...new Set(commands)])('shows a command that exists: kgwalk %s', (command) => {
    const words = command.split(/\s+/);
    const top = helpOf(words[0]!);
    expect(top).toContain(`Usage: kgwalk ${words[0]}`);
    const help = top.includes('Commands:') ? helpOf(words[0]!, words[1]!) : top;
    for (const option of words.filter((word) => word.startsWith('--'))) expect(help).toContain(option.split('=')[0]);
  });

  test.each(pages)('links only to files that exist: %s', (page) => {
    const links = [...readFileSync(page, 'utf8').matchAll(/\]\(([^)#]+)[^)]*\)/g)].map((match) => match[1]!);
    const broken = links.filter((link) => !/^https?:/.test(link) && !existsSync(join(dirname(page), link)));
    expect(broken).toEqual([]);
  });
});
