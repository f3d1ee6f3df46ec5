/** Outputs of commands named in the README and docs that depend only on data and seeds. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from '@jest/globals';
import { kgwalk } from '../fixtures/command-line.js';
import { goldens, inFull, printed, ran, set, sha256, useDemoHome } from './golden.js';

const home = useDemoHome();
const { same, testOnEngine } = goldens('printed');

/** Help of a command and of all below it. */
async function helpOf(words: string[]): Promise<string> {
  const { out } = await kgwalk(...words, '--help');
  const listed = out.split('\nCommands:\n')[1]?.split('\n\n')[0] ?? '';
  const below = [...listed.matchAll(/^ {2}([a-z][\w-]*)/gm)].map(([, name]) => name!).filter((name) => name !== 'help');
  const pages = [`$ kgwalk ${[...words, '--help'].join(' ')}\n${out}`];
  for (const name of below) pages.push(await helpOf([...words, name]));
  return pages.join('\n');
}

test('help of every command', async () => printed('help', await helpOf([]), home.folder));

/** Commands with what they print, as a page; errors where they fail. */
async function page(name: string, ...commands: string[][]): Promise<void> {
  const parts: string[] = [];
  for (const words of commands) {
    const { exitCode, out, err } = await kgwalk(...words);
    // Processor time differs from run to run; the rest of its table does not.
    const same = out.replace(/^trained .* processor seconds[^]*?\n\n/gm, (table) =>
      table.replace(/\d+\.\d$/gm, '(seconds)'),
    );
    parts.push(`$ kgwalk ${words.join(' ')}\n${same}${exitCode === 0 ? '' : `exit ${exitCode}: ${err}`}`);
  }
  printed(name, parts.join('\n'), home.folder);
}

test('settings', () => page('settings', ['config', 'explain'], ['config', 'explain', 'ppo.clipRange']));

same('presets', 'every preset of the package with all its values, as `kgwalk config show` prints it', async () => {
  const presets = readdirSync(join(import.meta.dirname, '../../presets')).filter((name) => name.endsWith('.yaml'));
  const rows: Record<string, string> = {};
  for (const name of presets) rows[name] = sha256(await ran('config', 'show', name.slice(0, -5)));
  return rows;
});

test('data sets', () =>
  page(
    'data-sets',
    ['datasets', 'list'],
    ...['demo', 'demo-questions', 'demo-questions/2-hop', 'links'].map((name) => ['datasets', 'stats', name]),
    ...['demo', 'demo-questions', 'links'].map((name) => ['datasets', 'check', name]),
  ));

const small = [
  'encoder.model=hashed:32',
  'backend=simd',
  'ppo.updates=2',
  'ppo.samplesPerUpdate=8',
  'ppo.minibatchSamples=4',
];

/** Their pages take long. */
const longOnEngine = inFull ? testOnEngine : () => {};

longOnEngine('dialogues', async () => {
  const settings = set(...small, 'data.dataset=demo', 'transe.epochs=4', 'transe.dim=8');
  await page(
    'dialogues',
    ['train', 'opendialkg-tiny', '--run-dir', 'walker', ...settings],
    ['evaluate', 'walker', '--split', 'test'],
    ['compare', 'random', 'frequency', 'walker', '--dataset', 'demo', '--encoder', 'hashed:32'],
    ['runs', 'list', '.'],
    ['checkpoint', 'list', 'walker'],
    ['datasets', 'check', 'demo', '--run', 'walker'],
  );
});

longOnEngine('questions', async () => {
  const settings = set(...small, 'relationWalker.questionWidth=16', 'relationWalker.width=16');
  const on = ['--dataset', 'demo-questions/2-hop', '--limit', '8', '--model', 'oracle:0.1', '--evaluations', 'kept'];
  await page(
    'questions',
    ['train', 'demo-questions', '--run-dir', 'asked', ...settings],
    ['evaluate', 'asked', '--split', 'test'],
    ['evaluate', '--agent', 'fiske', ...on],
    ['compare', 'fiske', 'tog', 'self-veqa', 'asked', ...on],
    ['datasets', 'check', 'demo-questions', '--run', 'asked'],
  );
});

testOnEngine('links', async () => {
  const settings = [
    ...['data.dataset=links', 'backend=simd', 'bilinear.dim=16', 'bilinear.epochs=2', 'linkWalker.width=16'],
    ...['linkWalker.pathDim=8', 'clone.epochs=1', 'ppo.updates=2', 'ppo.samplesPerUpdate=8', 'ppo.evalSamples=20'],
  ];
  const on = ['--dataset', 'links', '--limit', '20', '--evaluations', 'kept'];
  await page(
    'links',
    ['train', 'umls-walk', '--run-dir', 'linked', ...set(...settings)],
    ['evaluate', 'linked', '--limit', '20'],
    ['evaluate', '--agent', 'rules', ...on],
    ['compare', 'rules', 'random', 'linked', ...on],
    ['datasets', 'check', 'links', '--run', 'linked'],
  );
});
