import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { Command } from 'commander';
import { settingsSchema } from '../../agents/train-settings.js';
import { commands } from '../../cli/commands.js';
import { explainConfig } from '../../src/run/config-keys.js';
// @ts-expect-error plain JavaScript, a tool of the repository
import * as tool from '../../.ci/write-reference.js';

const { commandsPage, settingsPage, pages } = tool as {
  commandsPage(program: Command): string;
  settingsPage(keys: ReturnType<typeof explainConfig>): string;
  pages: Record<'commands' | 'settings', string>;
};

const program = new Command('kgwalk');
for (const register of commands) register(program);

test.each([
  [pages.commands, () => commandsPage(program)],
  [pages.settings, () => settingsPage(explainConfig(settingsSchema()))],
])('%s is that of the code: `npm run build && node .ci/write-reference.js` writes it again', (page, made) => {
  expect(readFileSync(page, 'utf8')).toBe(made());
});

test('commands include those below another and those with others below, none that is hidden; keys have type and default', () => {
  const commandsText = commandsPage(program);
  expect(commandsText).toMatch(/^## kgwalk datasets import$/m);
  expect(commandsText).toMatch(/^## kgwalk serve$/m);
  expect(commandsText).toContain('- `--run-dir <');
  expect(commandsText).not.toContain('__complete');
  expect(settingsPage(explainConfig(settingsSchema()))).toMatch(/^- `ppo\.clipRange` \(a number .*default `0\.2`\): /m);
});
