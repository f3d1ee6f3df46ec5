/**
 * `node test/kills/run.mjs --kills 500 [--seed 0] [--only train] [--log FILE]`: every command that writes, killed at moments spread over all of its changes of
 * the disk, and run again. What is there then must be, byte for byte and file for file, what the unbroken command leaves, and the
 * temporary folder empty. With a log, the same call resumes where it ended.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { appendFileSync, cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { argv, env, execPath, exit, pid, stdout } from 'node:process';
import { parseArgs } from 'node:util';

const { values } = parseArgs({
  args: argv.slice(2),
  options: {
    kills: { type: 'string', default: '500' },
    seed: { type: 'string', default: '0' },
    only: { type: 'string', default: '' },
    log: { type: 'string' },
  },
});
const root = mkdtempSync(join(tmpdir(), 'kgwalk-kills-'));
// Always the same place, so that what holds a path is equal, too.
const [base, work, temporary] = ['base', 'work', 'tmp'].map((name) => join(root, name));
const main = resolve('dist/cli/main.js');
const preload = `--import=${resolve('test/kills/kill-at.mjs')}`;

function kgwalk(words, folder, more = {}) {
  const own = { KGWALK_HOME: join(folder, 'home'), TMPDIR: temporary, KGWALK_KILL_PARENT: String(pid), ...more };
  return spawnSync(execPath, [main, ...words], { cwd: folder, env: { ...env, ...own }, encoding: 'utf8' });
}

function must(words, folder, more) {
  const { status, stderr } = kgwalk(words, folder, more);
  if (status !== 0) throw new Error(`kgwalk ${words.join(' ')}: ${status}: ${stderr}`);
}

const set = (...settings) => settings.flatMap((one) => ['--set', one]);
const small = [
  'backend=wasm',
  'ppo.updates=3',
  'ppo.samplesPerUpdate=8',
  'ppo.minibatchSamples=4',
  'checkpoint.everyUpdates=1',
];
const dialogues = [
  ...['train', 'opendialkg-tiny', '--model', 'hashed:32'],
  ...set(...small, 'data.dataset=demo', 'transe.epochs=4', 'transe.dim=8', 'clone.epochs=2'),
];
const questions = [
  ...['train', 'demo-questions', '--model', 'hashed:32'],
  ...set(...small, 'relationWalker.questionWidth=16', 'relationWalker.width=16'),
];
const links = [
  ...['train', 'umls-walk'],
  ...set(
    ...small,
    'data.dataset=links',
    'bilinear.dim=16',
    'bilinear.epochs=2',
    'linkWalker.width=16',
    'linkWalker.pathDim=8',
  ),
  ...set(
    'clone.epochs=1',
    'demonstrations.queries=100',
    'ppo.explorations=4',
    'ppo.evalSamples=20',
    'evaluation.beamWidth=16',
  ),
];
const fiske = [
  'evaluate',
  '--agent',
  'fiske',
  '--model',
  'oracle:0.2',
  '--dataset',
  'demo-questions/2-hop',
  '--limit',
  '20',
];
/** Another evaluation, whose parts are there. */
const parted = fiske.with(-1, '12');
const world = ['datasets', 'demo', '--entities', '300', '--dialogues', '30', '--questions', '100'];
const forked = ['train', '--resume', 'best', '--run-dir', 'runs/d', '--fork', 'runs/f', '--set', 'ppo.updates=2'];

/** Arguments by command; the second ones, if any, resume after a kill. */
const commands = {
  'import of dialogues': [['datasets', 'import', 'opendialkg', '--from', 'release', '--name', 'new']],
  'import of triples': [['datasets', 'import', 'triples', '--from', 'release/triples.txt', '--name', 'new']],
  'import of triples drawn apart': [
    ['datasets', 'import', 'triples', '--from', 'release/triples.txt', '--name', 'new', '--unseen', '0.5'],
  ],
  'replacement of a data set': [
    ['datasets', 'import', 'triples', '--from', 'release/triples.txt', '--name', 'demo-links'],
  ],
  'a demo world': [[...world, '--name', 'world']],
  pretraining: [
    [
      'pretrain',
      'umls-transe',
      ...set('data.dataset=links', 'transe.epochs=3', 'transe.dim=8', 'bilinear.enabled=false'),
    ],
  ],
  'training on dialogues': [[...dialogues, '--seed', '3', '--resume', '--run-dir', 'runs/new']],
  'training on questions': [[...questions, '--seed', '3', '--resume', '--run-dir', 'runs/new']],
  'training on links': [[...links, '--seed', '3', '--resume', '--run-dir', 'runs/new']],
  'a fork': [
    forked,
    (folder) =>
      existsSync(join(folder, 'runs/f/config.yaml')) ? ['train', '--resume', '--run-dir', 'runs/f'] : forked,
  ],
  'evaluation of a run': [['evaluate', 'runs/d', '--split', 'test', '--predictions', 'walks.jsonl']],
  'evaluation of a prompted agent': [fiske],
  'part of an evaluation': [[...fiske, '--part', '1/2']],
  'evaluation from its parts': [parted],
  comparison: [['compare', 'random', 'frequency', 'runs/d', '--split', 'test']],
  'a report': [['report', 'runs/d']],
  'export of metrics': [['runs', 'export', 'runs/d', '--csv', 'metrics.csv']],
  'export of a checkpoint': [['checkpoint', 'export', 'runs/d', '--to', 'walker.safetensors']],
};

/** Hash of every file by path: all but the clock, caches of vectors, and data of the clock in runs. */
function treeOf(folder) {
  const clocked = /(^|\/)(environment\.json|timing\.jsonl)$|^home\/(cache|vectors)\//;
  const names = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .filter((name) => !clocked.test(name));
  return new Map(
    names.sort().map((name) => [
      name,
      createHash('sha256')
        .update(readFileSync(join(folder, name)))
        .digest('hex'),
    ]),
  );
}

/** Differences between two trees: `- gone`, `+ left`, `~ changed`. */
const differences = (want, got) => [
  ...[...want.keys()].filter((name) => !got.has(name)).map((name) => `- ${name}`),
  ...[...got.keys()].filter((name) => !want.has(name)).map((name) => `+ ${name}`),
  ...[...got].filter(([name, hash]) => want.has(name) && want.get(name) !== hash).map(([name]) => `~ ${name}`),
];

function fresh() {
  for (const folder of [work, temporary]) rmSync(folder, { recursive: true, force: true });
  mkdirSync(temporary);
  cpSync(base, work, { recursive: true });
}

/** Draws that depend on seed, command and number alone. */
const uniform = (...of) =>
  createHash('sha256')
    .update([values.seed, ...of].join())
    .digest()
    .readUInt32LE() /
  2 ** 32;

mkdirSync(base);
mkdirSync(temporary);
must(world, base);
must([...world, '--write', 'release'], base);
must(['datasets', 'import', 'triples', '--from', 'release/triples.txt', '--name', 'links'], base);
must(['datasets', 'import', 'triples', '--from', 'release/triples.txt', '--name', 'demo-links'], base);
must([...dialogues, '--run-dir', 'runs/d'], base);
for (const shard of ['1/2', '2/2']) must([...parted, '--part', shard], base);

const names = Object.keys(commands).filter((name) => name.includes(values.only));
const each = Math.ceil(Number(values.kills) / names.length);
const known =
  values.log && existsSync(values.log)
    ? readFileSync(values.log, 'utf8')
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line))
    : [];

/** Changes and results of the unbroken command. */
const unbroken = names.map((name) => {
  const [words, goesOn = () => words] = commands[name];
  fresh();
  const counter = join(root, 'count');
  must(words, work, { NODE_OPTIONS: preload, KGWALK_KILL_COUNT: counter });
  const changes = Number(readFileSync(counter, 'utf8'));
  return { name, words, goesOn, changes, moments: Math.min(each, changes), whole: treeOf(work), kills: 0, wrong: 0 };
});

// A moment of each after the other, so that what is broken off has tried them all.
for (let i = 0; i < each; i++) {
  for (const row of unbroken.filter(({ moments }) => i < moments)) {
    const { name, words, goesOn, changes, moments, whole } = row;
    const at = 1 + Math.floor((changes * (i + uniform(name, i))) / moments);
    let one = known.find((before) => before.name === name && before.at === at && before.changes === changes);
    if (!one) {
      fresh();
      const { signal } = kgwalk(words, work, { NODE_OPTIONS: preload, KGWALK_KILL_AT: String(at) });
      const again = kgwalk(goesOn(work), work);
      const problems = [
        ...(again.status === 0
          ? differences(whole, treeOf(work))
          : [`exit ${again.status}: ${again.stderr.slice(0, 500)}`]),
        ...readdirSync(temporary).map((left) => `temporary ${left}`),
      ];
      one = { name, at, changes, killed: signal === 'SIGKILL', problems };
      if (values.log) appendFileSync(values.log, `${JSON.stringify(one)}\n`);
    }
    if (one.killed) row.kills++;
    if (one.problems.length === 0) continue;
    row.wrong++;
    stdout.write(`${name}, killed at change ${at} of ${changes}: ${one.problems.slice(0, 5).join('; ')}\n`);
  }
}
rmSync(root, { recursive: true });
for (const { name, changes, kills, wrong } of unbroken) {
  stdout.write(`${name}: ${changes} changes of the disk, ${kills} kills, ${wrong} wrong\n`);
}
const [kills, wrong] = ['kills', 'wrong'].map((key) => unbroken.reduce((sum, row) => sum + row[key], 0));
stdout.write(`${kills} kills in ${names.length} commands, ${wrong} wrong (${process.version})\n`);
exit(wrong > 0 ? 1 : 0);
