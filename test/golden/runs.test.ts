/** Training of every kind of walker and of every table, and the rows of its evaluations. */
import { readFileSync, writeFileSync } from 'node:fs';
import { goldens, hashesUnder, inFull, ran, rowsOf, runRows, set, sha256, together, useDemoHome } from './golden.js';

useDemoHome();
const { same, numbers } = goldens('runs');
/** Further walkers of a task, in full alone. */
const further: typeof numbers = (...group) => (inFull ? numbers(...group) : undefined);

const [seeds, small] = [
  ['encoder.model=hashed:32', 'backend=simd'],
  ['ppo.updates=3', 'ppo.samplesPerUpdate=8', 'ppo.minibatchSamples=4', 'ppo.evalEvery=2', 'checkpoint.everyUpdates=2'],
];

const ranJson = async (...words: string[]) => JSON.parse(await ran(...words, '--json')) as { saved: string };

/** Trains and then walks test, which makes what its weights say visible in rows too. */
async function trained(name: string, preset: string, settings: string[], ...evaluated: string[]) {
  await ran('train', preset, '--run-dir', name, ...set(...seeds, ...small, ...settings));
  const { saved } = await ranJson('evaluate', name, '--split', 'test', ...evaluated);
  return { ...runRows(name), 'rows on test': rowsOf(saved) };
}

same('data sets', 'the demo world as dialogues, questions and link data', () =>
  together({
    dialogues: hashesUnder('home/datasets/demo'),
    questions: hashesUnder('home/datasets/demo-questions'),
    links: hashesUnder('home/datasets/links'),
  }),
);

const dialogues = ['data.dataset=demo', 'transe.epochs=4', 'transe.dim=8', 'clone.epochs=2'];
const scratch = ['ppo.init=scratch', 'ppo.klCoef=0', 'clone.enabled=false'];

numbers(
  'dialogues, clone and PPO',
  'candidate head, group means, evaluated in predictions and countings of LLM-ARK',
  () => trained('dialogues', 'opendialkg-tiny', dialogues, '--count', 'ark', '--predictions', 'dialogues/walks.jsonl'),
);

const critic = [...dialogues, ...scratch, 'ppo.baseline=critic', 'ppo.gaeLambda=0.9', 'ppo.entropyCoef=0.01'];
further('dialogues, critic', 'PPO from scratch with a critic, shaping by TransE and a reward for the target', () =>
  trained('critic', 'opendialkg-tiny', [
    ...critic,
    'env.shaping=transe',
    'env.reward.kind=target',
    'env.reward.miss=-1',
  ]),
);

const plainHead = [
  ...['walker.head=pa-mlp', 'walker.width=32', 'walker.stepEncoding=concat', 'walker.stateNorm=layer'],
  ...['walker.entityVectors=[transe]', 'walker.relationVectors=transe', 'walker.precision=bf16'],
  ...['env.edgePolicy=ark', 'env.maxOut=8', 'stateText.outPaths=3', 'data.maxDialogues=20', 'ppo.updates=2'],
];
numbers('dialogues, LLM-ARK', 'plain head over the text of every state, bfloat16, edges by the table of LLM-ARK', () =>
  trained('ark', 'llm-ark-2024', [...dialogues, 'ppo.updateEpochs=2', ...plainHead]),
);

further('dialogues, exact gradient', 'the expected reward in closed form instead of sampled walks', () =>
  trained('exact', 'opendialkg-tiny', [...dialogues, 'ppo.gradient=exact', 'ppo.updates=2']),
);

const questions = ['relationWalker.questionWidth=16', 'relationWalker.width=16'];
numbers('questions, relation walk', 'sets of entities walked by relations, the end learned', () =>
  trained('relations', 'demo-questions', questions),
);

const links = [
  ...['data.dataset=links', 'bilinear.dim=16', 'bilinear.epochs=2', 'linkWalker.width=16', 'linkWalker.pathDim=8'],
  ...[
    'clone.epochs=1',
    'demonstrations.queries=200',
    'ppo.explorations=4',
    'ppo.evalSamples=20',
    'evaluation.beamWidth=16',
  ],
];
numbers('links, clone and PPO', 'GRU over ComplEx vectors that stay, paid for likely answers', () =>
  trained('links', 'umls-walk', links, '--limit', '20'),
);

const reinforce = [
  ...['ppo.algorithm=reinforce', 'ppo.updateEpochs=1', 'ppo.minibatchSamples=8', 'ppo.baseline=moving-average'],
  ...[
    'ppo.normalizeAdvantage=none',
    'linkWalker.vectors=random',
    'linkWalker.trainVectors=true',
    'linkWalker.vectorDim=8',
  ],
  ...['linkWalker.pathEncoder=lstm', 'linkWalk.shaping=none', 'bilinear.enabled=false', 'linkWalk.horizon=3'],
];
further('links, REINFORCE', 'LSTM over vectors of its own, as MINERVA trains', () =>
  trained('reinforce', 'umls-walk', [...links, ...scratch, ...reinforce], '--limit', '20', '--direction', 'tail'),
);

const overTransE = [
  ...[
    'transe.enabled=true',
    'transe.epochs=2',
    'transe.dim=8',
    'linkWalker.vectors=transe',
    'linkWalker.pathEncoder=mean',
  ],
  ...['bilinear.enabled=false', 'linkWalk.shaping=potential', 'linkWalk.shapingScorer=transe', 'ppo.actionDropout=0.3'],
];
further('links, TransE', 'mean of steps over TransE vectors, shaping by potentials, dropped actions', () =>
  trained('transe-walk', 'umls-walk', [...links, ...overTransE], '--limit', '20'),
);

/** A table as its file keeps it. */
async function table(preset: string, ...settings: string[]): Promise<string[]> {
  const made = JSON.parse(await ran('pretrain', preset, '--json', ...set(...settings))) as
    { file: string } | { file: string }[];
  return [made].flat().map(({ file }) => sha256(readFileSync(file)));
}

numbers('tables', 'TransE and bilinear embeddings as the files of `kgwalk pretrain`', async () => {
  const transE = (...settings: string[]) =>
    table('opendialkg-tiny', 'data.dataset=demo', 'transe.epochs=3', 'transe.dim=12', ...settings);
  const bilinear = (...settings: string[]) =>
    table(
      'umls-transe',
      'data.dataset=links',
      'transe.enabled=false',
      'bilinear.epochs=2',
      'bilinear.dim=16',
      ...settings,
    );
  const tables = {
    'TransE, simd': await transE(),
    'TransE, simd, batches': await transE('transe.batchSize=64'),
    'TransE, simd, L2': await transE('transe.norm=2', 'transe.bernoulli=true'),
    'TransE, simd, margin': await transE('transe.loss=margin', 'transe.optimizer=sgd'),
    ComplEx: await bilinear(),
    DistMult: await bilinear('bilinear.model=distmult', 'bilinear.negatives=50'),
  };
  return Object.fromEntries(
    Object.entries(tables).flatMap(([name, of]) => of.map((hash, i) => [`${name} ${i}`, hash])),
  );
});

const tiny = 'transe: { epochs: 2, dim: 8 }\nbilinear: { epochs: 2, dim: 16 }\n';

numbers('baselines', 'untrained agents: predictions on dialogues, rows on questions and links', async () => {
  const rows: Record<string, string> = {};
  writeFileSync('small.yaml', `extends: umls-transe\nname: small\n${tiny}`);
  for (const agent of ['random', 'stop-prior', 'frequency', 'popularity', 'memory', 'transe', 'text-similarity']) {
    const file = `${agent}.jsonl`;
    const words = ['--dataset', 'demo', '--split', 'test', '--encoder', 'hashed:32', '--predictions', file];
    await ran('evaluate', '--agent', agent, ...words);
    rows[`dialogues, ${agent}`] = sha256(readFileSync(file));
  }
  const kept = async (words: string[], dataset: string) => {
    const on = ['--dataset', dataset, '--split', 'test', '--evaluations', 'kept'];
    return rowsOf((await ranJson('evaluate', ...words, ...on)).saved);
  };
  for (const agent of inFull ? ['template-lookup', 'random-chain'] : ['random-chain']) {
    rows[`questions, ${agent}`] = await kept(['--agent', agent], 'demo-questions/2-hop');
  }
  for (const agent of ['random', 'rules', 'transe', 'bilinear']) {
    const trained = ['transe', 'bilinear'].includes(agent) ? ['--config', 'small.yaml'] : [];
    rows[`links, ${agent}`] = await kept(['--agent', agent, '--limit', '20', ...trained], 'links');
  }
  return rows;
});
