/** Exact resume, by task and phase: a run that is stopped anywhere and resumed ends byte for byte as the unbroken run. */
import { appendFileSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { walkerSettings } from '../../agents/dialogue-walker/settings.js';
import { loadPreset, type RunSettings } from '../../presets/index.js';
import { train } from '../../tasks/train.js';
import { finishedRun } from '../fixtures/finished-run.js';
import { often, tally } from '../fixtures/long-tests.js';
import { useSharedHome } from '../fixtures/own-home.js';
import { importTinyLinks, tinyLinkSettings } from '../fixtures/tiny-link-training.js';
import { expectExactResume, runHashes, type Stop, stoppedRun, tinySettings } from '../fixtures/tiny-training.js';
import { filmSettings } from '../fixtures/toy-question-training.js';

const home = useSharedHome(async () => {
  await finishedRun('dialogues');
  await finishedRun('questions');
  await importTinyLinks();
});

const critic = ['ppo.baseline=critic', 'ppo.init=scratch', 'ppo.klCoef=0', 'clone.enabled=false'];
const perStep = ['stateText.encode=per-step', 'walker.head=pa-mlp', 'walker.placeVectors=false'];
const arkNetwork = [
  'walker.critic=plain',
  'walker.stepEncoding=concat',
  'walker.stateNorm=layer',
  'walker.precision=bf16',
];
const ablated = ['walker.head=pa-mlp', 'transe.enabled=false', 'ppo.baseline=critic', 'ppo.learningRate=0.05'];
const withoutTransE = ['walker.entityInit=random-trainable', 'walker.placeVectors=false', 'walker.componentDim=6'];
const withoutPaths = ['walker.pathAware=false', 'env.edgePolicy=topk-degree', 'env.maxOut=3'];
const pairs = ['transe.enabled=false', 'clone.linkedTurns={}', 'walker.pairFeatures=wide'];
const links = ['demonstrations.paths=2', 'clone.epochs=2', 'ppo.updates=4'];
const chains = () => loadPreset('link-chains', ['data.dataset=tiny', 'exactWalker.chains.steps=60']);

const reinforce = [
  ...['ppo.algorithm=reinforce', 'ppo.updateEpochs=1', 'ppo.minibatchSamples=2', 'ppo.baseline=moving-average'],
  ...['ppo.actionDropout=0.5', 'ppo.baselineDecay=0.5', 'transe.enabled=false', 'env.reward.miss=-1'],
];
const words = ['relationWalker.reads=words', 'relationWalker.wordDim=16', 'relationWalker.wordWidth=16'];
const heads = walkerSettings.shape.head.unwrap().options.filter((head) => head !== 'candidate');
const small = ['transe.enabled=false', 'ppo.updates=2', 'walker.recurrentUnits=8', 'walker.transformerLayers=1'];
const free = ['walker.head=seq2path', 'walker.decoder=free', 'walker.edgeFeatures=false', 'ppo.enabled=false'];

/** Runs with the places that each is stopped at, of which `npm test` tries the first `quick`: one a task and kind of phase. */
const cases: [what: string, settings: () => RunSettings, quick: number, stops: Stop[]][] = [
  [
    'dialogues',
    () => tinySettings(),
    3,
    [
      ['transe', 1],
      ['clone', 4],
      ['evaluate the best on valid', 1],
      ['encode messages', 0],
      ['ppo', 3],
      ['evaluate on valid', 1, 2],
      ['evaluate on valid', 1],
      ['ppo', 1],
      ['evaluate on valid', 1, 3],
      ['evaluate on valid', 1, 4],
    ],
  ],
  ['a critic', () => tinySettings(...critic, 'log.tensorboard=true', 'walker.head=pa-mlp'), 0, [['ppo', 3]]],
  ['texts of every step, cloned', () => tinySettings(...perStep), 0, [['ppo', 3]]],
  ['texts of every step, with a critic', () => tinySettings(...perStep, ...critic), 0, [['ppo', 3]]],
  ['LLM-ARK’s whole network', () => tinySettings(...perStep, ...critic, ...arkNetwork), 0, [['ppo', 3]]],
  ...([withoutTransE, withoutPaths].map((one) => [
    `LLM-ARK’s ablation, ${one[0]}`,
    () => tinySettings(...ablated, ...one),
    0,
    [
      ['ppo', 3],
      ['clone', 4],
    ],
  ]) as typeof cases),
  [
    'pair features and linked turns',
    () => tinySettings(...pairs),
    0,
    [
      ['clone', 2],
      ['ppo', 2],
    ],
  ],
  [
    'a network on wasm',
    () => tinySettings('backend=wasm'),
    1,
    [
      ['ppo', 3],
      ['clone', 2],
    ],
  ],
  ['a critic on wasm', () => tinySettings('backend=wasm', ...critic), 0, [['ppo', 3]]],
  ['the exact gradient on wasm', () => tinySettings('backend=wasm', 'ppo.gradient=exact'), 0, [['ppo', 3]]],
  ['REINFORCE', () => tinySettings(...reinforce), 0, [['ppo', 2]]],
  [
    'questions',
    () => filmSettings(),
    1,
    [
      ['ppo', 7],
      ['evaluate on valid', 1, 2],
      ['ppo', 10],
    ],
  ],
  ['questions read in words', () => filmSettings(...words), 0, [['ppo', 7]]],
  [
    'links',
    () => tinyLinkSettings(...links),
    1,
    [
      ['ppo', 3],
      ['clone', 3],
    ],
  ],
  [
    'links, over means of paths with a critic',
    () => tinyLinkSettings(...links, 'linkWalker.pathEncoder=mean', 'ppo.baseline=critic'),
    0,
    [['ppo', 3]],
  ],
  ['chains of links', chains, 1, [['fit', 3]]],
  ...heads.map((head): (typeof cases)[number] => [
    `the head ${head}`,
    () => tinySettings(...small, `walker.head=${head}`),
    0,
    [
      ['clone', 2],
      ['ppo', 1],
    ],
  ]),
  ['the decoder that writes freely', () => tinySettings(...small, ...free), 0, [['clone', 2]]],
];

describe.each(cases.filter(([, , quick, stops]) => often(quick, stops.length) > 0))(
  'a run on %s',
  (what, settingsOf, quick, stops) => {
    const unbroken = () => join(home(), `${what}-run`);
    beforeAll(async () => {
      if (!existsSync(unbroken())) await train({ settings: settingsOf(), folder: unbroken() });
    });

    test.each(stops.slice(0, often(quick, stops.length)))(
      'stopped in “%s” at %j ends as if it never was',
      async (...stop) => {
        rmSync(join(home(), 'embeddings'), { recursive: true, force: true });
        await expectExactResume(settingsOf(), unbroken(), ...stop);
      },
    );
  },
);

test('a run with truncated logs resumes and reports it, and refuses a metric log that was altered before its checkpoint', async () => {
  const settings = tinySettings();
  const folder = await stoppedRun(settings, 'ppo', 2);
  const cut: [file: string, bytes: number][] = [];
  const onTruncatedLog = (file: string, bytes: number) => void (bytes > 0 && cut.push([basename(file), bytes]));
  const resumed = () => train({ settings, folder, resume: 'last', onTruncatedLog });
  const log = join(folder, 'metrics.jsonl');
  const before = readFileSync(log, 'utf8');
  const altered = before.replace(/"train\/loss":0\.(\d)/, (text, digit) => text.replace(digit, String(9 - digit)));
  expect(altered).not.toBe(before);
  writeFileSync(log, altered);
  const refusal = { code: 'data', message: expect.stringContaining(`got others, at ${log}`) };
  await expect(resumed()).rejects.toMatchObject(refusal);
  writeFileSync(log, `${before}{"phase":"ppo","st`);
  appendFileSync(join(folder, 'timing.jsonl'), '{"ph');
  await resumed();
  expect(cut).toEqual([
    ['metrics.jsonl', 18],
    ['timing.jsonl', 4],
  ]);
  expect(runHashes(folder)).toEqual(runHashes(join(home(), 'dialogues-run')));
  tally('faults injected', 2);
});
