/**
 * Writes docs/reference/commands.md and docs/reference/settings.md after `npm run build`: every command with its options, from
 * commander, and every key of a settings file with its type, default and effect, from zod. test/docs/reference-pages.test.ts
 * compares both with the code.
 */
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { argv } from 'node:process';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');

/** Where the pages lie, from the root of the repository. */
export const pages = { commands: 'docs/reference/commands.md', settings: 'docs/reference/settings.md' };

/** Text of a description as Markdown: code between backticks as it is, nothing else is markup. */
const plain = (text) =>
  text
    .split(/(`[^`]*`)/)
    .map((part, i) => (i % 2 ? part : part.replaceAll(/[<*_|]/g, '\\$&')))
    .join('');
const item = (name, text) => `- \`${name}\`: ${plain(text)}`;
const sections = (...parts) => `${parts.flat().join('\n\n')}\n`;
const json = (value) => (typeof value === 'string' ? value : JSON.stringify(value));

/** Commands that do something themselves, by full name: all but those that only hold others. */
function acting(command, path = command.name()) {
  const below = command.createHelp().visibleCommands(command);
  const own = below.filter((one) => one.name() !== 'help');
  const acts = own.length === 0 || command.options.length > 0 || command.registeredArguments.length > 0;
  return [...(acts ? [{ command, path }] : []), ...own.flatMap((one) => acting(one, `${path} ${one.name()}`))];
}

/** The page of the commands of a program. */
export function commandsPage(program) {
  const described = acting(program).map(({ command, path }) => {
    const help = command.createHelp();
    const lines = [
      ...help.visibleArguments(command).map((one) => item(one.name(), help.argumentDescription(one))),
      ...help
        .visibleOptions(command)
        .filter(({ long }) => long !== '--help')
        .map((one) => item(one.flags, help.optionDescription(one))),
    ];
    const usage = `    ${path} ${command.usage()}`.trimEnd();
    return sections(
      `## ${path}`,
      plain(command.description() || 'Options of every command.'),
      usage,
      lines.join('\n') || [],
    ).trimEnd();
  });
  const head =
    'Every command with its arguments and options, as `--help` prints them. Made by `.ci/write-reference.js`.';
  return sections('# Commands', head, described);
}

/** The page of the keys of a settings file, of those that `explainConfig` lists. */
export function settingsPage(keys) {
  const sectionOf = (key) => (key.includes('.') ? key.split('.')[0] : 'Top level');
  const described = [...new Set(keys.map(({ key }) => sectionOf(key)))].map((section) => {
    const lines = keys
      .filter(({ key }) => sectionOf(key) === section)
      .map(({ key, takes, default: value, description }) => {
        const given = value === undefined ? '' : `; default \`${json(value)}\``;
        return `- \`${key}\` (${plain(takes)}${given}): ${plain(description)}`;
      });
    return sections(`## ${section}`, lines.join('\n')).trimEnd();
  });
  const head =
    'Every key of a preset or settings file, for `--set KEY=VALUE` and YAML: type, default and effect, as `kgwalk config explain` prints them. Made by `.ci/write-reference.js`.';
  return sections('# Settings', head, described);
}

if (import.meta.url === pathToFileURL(argv[1] ?? '').href) {
  const { Command } = await import('commander');
  const { commands } = await import('../dist/cli/commands.js');
  const { explainConfig } = await import('../dist/src/run/config-keys.js');
  const { settingsSchema } = await import('../dist/agents/train-settings.js');
  const program = new Command('kgwalk');
  for (const register of commands) register(program);
  writeFileSync(join(root, pages.commands), commandsPage(program));
  writeFileSync(join(root, pages.settings), settingsPage(explainConfig(settingsSchema())));
}
