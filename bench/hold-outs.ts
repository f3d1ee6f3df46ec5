/**
 * Question types never trained on, by kinds of readers, sets of held types and seeds: a line a training, and of the lines a table, the
 * compositions that fail, and a picture. The data set is read once.
 *
 *     node dist/bench/hold-outs.js --model MiniLM.gguf --sets type,type:0,type:1 --seeds 0,1,2 --lines LINES.jsonl \
 *       --reader nsm-chains --reader nsm-chains,order=forward --reader template-lookup
 *     node dist/bench/hold-outs.js --lines LINES.jsonl --table [--picture FILE.png]
 *
 * Each reader is trained by the preset `readers` to its last step, since valid, whose types train has, cannot choose for the others. Judged
 * is a seeded sample of the test questions, the same for all. What stands in the lines already is not trained again.
 */
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { questionAgents } from '../agents/question-agents.js';
import type { QuestionAgent } from '../agents/question-agent.js';
import { readerAgent, readerKind } from '../agents/readers/agent.js';
import type { QuestionSample } from '../datasets/question.js';
import { drawHeldTypes, loadQuestionDataset } from '../datasets/questions/question-dataset.js';
import { drawOfTypes, splitsOf } from '../datasets/questions/question-manifest.js';
import { sampleOf } from '../datasets/questions/stored-question.js';
import { frontierTrie } from '../envs/relation-walk/frontier-trie.js';
import { loadPreset } from '../presets/index.js';
import { pngOf } from '../reports/pictures.js';
import { palette } from '../reports/plots/colors.js';
import { openEncoder } from '../src/encoder/open-encoder.js';
import { NameIndex } from '../src/kg/name-index.js';
import { cacheFolder } from '../src/run/locations.js';
import { sampled } from '../src/run/seeds.js';
import { batchesOf, learningRateAt } from '../agents/readers/train.js';
import { startClock } from './measure.js';

const { values } = parseArgs({
  options: {
    dataset: { type: 'string', default: 'metaqa' },
    model: { type: 'string', default: 'hashed:64' },
    sets: { type: 'string', default: 'type' },
    seeds: { type: 'string', default: '0' },
    reader: { type: 'string', multiple: true, default: [] },
    train: { type: 'string' },
    samples: { type: 'string', default: '1000' },
    minutes: { type: 'string', default: 'Infinity' },
    lines: { type: 'string' },
    table: { type: 'boolean', default: false },
    picture: { type: 'string' },
  },
});

/** Result of one training. */
interface Line {
  /** Kind and settings of the reader, and how many questions it was trained on where not on all. */
  row: string;
  set: string;
  seed: number;
  n: number;
  hit: number;
  f1: number;
  /** Processor seconds of training. */
  seconds: number;
  /** Questions whose first answer is wrong, most frequent first: type, relations asked for, relations taken. */
  missed: { type: string; asked: string; taken: string; count: number }[];
}

const known: Line[] =
  values.lines && existsSync(values.lines)
    ? readFileSync(values.lines, 'utf8')
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line) as Line)
    : [];

// Two that ran at once may have made one of them twice.
const once = new Map(known.map((line) => [`${line.row} ${line.set} ${line.seed}`, line]));
if (values.table) await show([...once.values()]);
else await measureAll();

async function measureAll(): Promise<void> {
  const started = startClock();
  const dataset = loadQuestionDataset(values.dataset);
  const { manifest, subsets } = dataset;
  const graph = await dataset.loadGraph();
  const all = subsets.flatMap((subset) =>
    Object.keys(manifest.subsets[subset]!.files).flatMap((file) =>
      dataset
        .storedQuestions(subset, file)
        .map((question) => ({ question, file, sample: sampleOf(question, subset, graph, manifest.topicsReturn) })),
    ),
  );
  const stored = all.map(({ question }) => question);
  const encoder = await openEncoder(loadPreset('readers').encoder, {
    modelPath: values.model,
    cacheFolder: cacheFolder(),
  });
  for (const set of values.sets.split(',')) {
    const draw = drawOfTypes(set);
    const splits = splitsOf(manifest, draw === undefined ? undefined : { draw, types: drawHeldTypes(stored, draw) });
    const of = (role: 'train' | 'test') => {
      const split = splits.find(({ holdOut, role: own }) => holdOut === set && own === role)!;
      return all
        .filter(({ question, file, sample }) => split.has(question, file) && sample.gold.answers.length > 0)
        .map(({ sample }) => sample);
    };
    const train = sampled(of('train'), Number(values.train ?? Infinity), 'data/train-samples');
    const test = sampled(of('test'), Number(values.samples), 'bench/hold-outs');
    for (const seed of values.seeds.split(',').map(Number)) {
      for (const row of values.reader) {
        const name = values.train ? `${row}, ${values.train} questions` : row;
        if (known.some((line) => line.row === name && line.set === set && line.seed === seed)) continue;
        if (started.wall() > 60 * Number(values.minutes)) return encoder.dispose();
        const spent = startClock();
        const agent = await trained(row, seed, train);
        const seconds = spent.cpu();
        const line: Line = { row: name, set, seed, seconds, ...(await judged(agent, test)) };
        if (values.lines) appendFileSync(values.lines, `${JSON.stringify(line)}\n`);
        console.log(`${name} ${set} seed ${seed}: Hit@1 ${(100 * line.hit).toFixed(1)}, ${seconds.toFixed(1)} s`);
      }
    }
  }
  await encoder.dispose();

  async function trained(row: string, seed: number, train: QuestionSample[]): Promise<QuestionAgent> {
    const [kind, ...settings] = row.split(',');
    if (kind === 'template-lookup') {
      const { name: dataset } = manifest;
      const resources = { dataset, graph, names: new NameIndex(graph), encoder: () => Promise.resolve(encoder), seed };
      return questionAgents.create(kind, { ...resources, train: () => train });
    }
    const run = loadPreset('readers', [`reader.kind=${kind}`, ...settings.map((one) => `reader.${one}`)]);
    const own = run.reader!;
    const facts = {
      ...{ graph, encoder, seed, settings: own, folder: '' },
      horizon: run.relationWalk.horizon,
      maxTokens: run.relationWalker.maxTokens,
      frontiers: frontierTrie(graph),
      tf: () => Promise.reject(new Error('expected a reader on the host')),
    };
    const opened = readerKind(own.kind);
    const reader = await opened.create(facts, await opened.basis(facts, train));
    await reader.prepare?.(train.map(({ task }) => task));
    const batches = batchesOf(train, own.fit.batchSize, seed);
    for (let step = 0; step < own.fit.steps; step++) {
      await reader.step(batches(step), { step, learningRate: learningRateAt(step, own.fit) });
    }
    return readerAgent(row, opened, reader, facts);
  }

  async function judged(
    agent: QuestionAgent,
    test: QuestionSample[],
  ): Promise<Pick<Line, 'n' | 'hit' | 'f1' | 'missed'>> {
    const missed = new Map<string, Line['missed'][number]>();
    const named = (chain: readonly number[] = []) => chain.map((relation) => graph.relationNames[relation]).join(' > ');
    let [hits, f1] = [0, 0];
    for (const { task, gold } of test) {
      const session = { trace: () => {}, signal: new AbortController().signal };
      const { entities, chain } = await agent.answer(
        task,
        session as unknown as Parameters<QuestionAgent['answer']>[1],
      );
      const golds = new Set(gold.answers.map(({ entity }) => entity));
      const right = entities.filter((entity) => golds.has(entity)).length;
      f1 += right === 0 ? 0 : (2 * right) / (entities.length + golds.size);
      if (golds.has(entities[0] ?? NaN)) {
        hits++;
        continue;
      }
      const [type, asked, taken] = [gold.type ?? '', named(gold.chains[0]), named(chain)];
      const one = missed.get(`${type} ${asked} ${taken}`) ?? { type, asked, taken, count: 0 };
      missed.set(`${type} ${asked} ${taken}`, { ...one, count: one.count + 1 });
    }
    const often = [...missed.values()].sort((a, b) => b.count - a.count);
    return { n: test.length, hit: hits / test.length, f1: f1 / test.length, missed: often.slice(0, 20) };
  }
}

/** Mean, deviation over trainings, worst set, by row; then what fails; then the picture. */
async function show(lines: readonly Line[]): Promise<void> {
  const mean = (numbers: readonly number[]) => numbers.reduce((sum, one) => sum + one / numbers.length, 0);
  const percent = (share: number) => (100 * share).toFixed(1);
  const bars: { label: string; color: string; value: number; low: number; high: number; n: number }[] = [];
  console.log(
    '| reader | sets × seeds | recipe: mean (worst seed) | drawn sets: mean ± sd | worst set | processor s |',
  );
  console.log('| --- | --- | --- | --- | --- | --- |');
  [...new Set(lines.map(({ row }) => row))].forEach((row, i) => {
    const own = lines.filter((line) => line.row === row);
    const recipe = own.filter(({ set }) => set === 'type').map(({ hit }) => hit);
    const drawn = own.filter(({ set }) => set !== 'type');
    const sets = [...new Set(drawn.map(({ set }) => set))].map((set) => {
      return { set, hit: mean(drawn.filter((line) => line.set === set).map(({ hit }) => hit)) };
    });
    const hits = drawn.map(({ hit }) => hit);
    const deviation = Math.sqrt(mean(hits.map((hit) => (hit - mean(hits)) ** 2)) * (hits.length / (hits.length - 1)));
    const worst = sets.reduce((a, b) => (b.hit < a.hit ? b : a), { set: '–', hit: Infinity });
    const seeds = new Set(own.map(({ seed }) => seed)).size;
    const cells = [
      row,
      `${sets.length} × ${seeds}`,
      recipe.length > 0 ? `${percent(mean(recipe))} (${percent(Math.min(...recipe))})` : '–',
      hits.length > 0 ? `${percent(mean(hits))}${hits.length > 1 ? ` ± ${percent(deviation)}` : ''}` : '–',
      sets.length > 0 ? `${percent(worst.hit)} (${worst.set})` : '–',
      row === 'template-lookup' ? '–' : mean(own.map(({ seconds }) => seconds)).toFixed(1),
    ];
    console.log(`| ${cells.join(' | ')} |`);
    const each = sets.map(({ hit }) => hit);
    if (each.length > 0) {
      const range = { value: mean(each), low: Math.min(...each), high: Math.max(...each), n: hits.length };
      bars.push({ label: row.replace(',order=', ' '), color: palette[i % palette.length]!, ...range });
    }
  });
  const failing = new Map<string, number>();
  for (const { row, missed, n } of lines) {
    for (const { type, asked, taken, count } of missed) {
      const key = `${row}: ${type}, ${asked} → ${taken}`;
      failing.set(key, (failing.get(key) ?? 0) + count / n);
    }
  }
  console.log();
  for (const [key, share] of [...failing].sort((a, b) => b[1] - a[1]).slice(0, 30)) {
    console.log(`${(100 * share).toFixed(1)} ${key}`);
  }
  if (values.picture) {
    const title = 'Hit@1 on question types never trained on: mean over sets, worst to best';
    writeFileSync(values.picture, await pngOf({ kind: 'bars', title, unit: '%', bars }));
  }
}
