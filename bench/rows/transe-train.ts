/**
 * TransE training: how many positives a second, or how good after how much work. A positive is one training triple in one
 * step, at any number of negatives.
 *
 *     node dist/bench/rows/transe-train.js FOLDER [--negatives 25] [--threads 1] [--seconds 5]
 *     node dist/bench/rows/transe-train.js FOLDER --task quality --seconds 90 [--on valid] [--set epochs=40]
 *
 * `quality` trains as `kgwalk pretrain` does, all epochs of the settings or until `--seconds` of CPU are spent, and ranks the
 * peers' subset of test, or as many of valid to choose settings on; its CPU seconds are those of training. The rate on several
 * threads is that of whole epochs.
 */
import { createHash } from 'node:crypto';
import { parseArgs } from 'node:util';
import { knownAnswers } from '../../src/embedding/known-answers.js';
import { linkMetrics, linkRanks } from '../../src/embedding/rank-links.js';
import { loadConfig } from '../../src/run/config.js';
import { openCrew, openShare, trainTransE } from '../../agents/embeddings/transe/train-transe.js';
import { transeSettings } from '../../agents/embeddings/transe/settings.js';
import { createTransE, createWork, orderEpoch, type TransEWork } from '../../agents/embeddings/transe/work.js';
import { readLinkData, testSubset } from '../link-data.js';
import { emitRate, repeatFor, startClock } from '../measure.js';

/** Positives between two looks at the clock. */
const stretch = 8192;

/** Work that is measured again and again. */
interface Turn {
  /** @returns positives trained */
  run: () => number | Promise<number>;
  close?: () => Promise<void>;
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    negatives: { type: 'string', default: '25' },
    threads: { type: 'string', default: '1' },
    seconds: { type: 'string', default: '5' },
    seed: { type: 'string', default: '0' },
    task: { type: 'string', default: 'train' },
    on: { type: 'string', default: 'test' },
    set: { type: 'string', multiple: true, default: [] },
  },
});
if (positionals[0] === undefined) throw new Error('expected the folder of train.txt, valid.txt and test.txt');
const data = await readLinkData(positionals[0]);
const { train, numEntities, numRelations } = data;
const [threads, seed] = [Number(values.threads), Number(values.seed)];
// Several threads share batches; one does not need them.
const batch = threads === 1 ? [] : ['batchSize=256'];
const overrides = [`negatives=${values.negatives}`, ...batch, ...values.set];
const settings = loadConfig(transeSettings, { overrides, source: 'the arguments' });
const { negatives, ...others } = settings;
const about = { unit: 'positives/s', threads, variant: 'simd' };
const named = { data: data.name, dim: settings.dim, negatives, kernel: 'simd' };

if (values.task === 'quality') {
  const budget = new AbortController();
  const clock = startClock();
  const onEpoch = () => {
    if (clock.cpu() > Number(values.seconds)) budget.abort();
  };
  const { signal } = budget;
  const trained = await trainTransE({ train, numEntities, numRelations, settings, seed, threads, onEpoch, signal });
  const spent = { wall: clock.wall(), cpu: clock.cpu() };
  const metrics = linkMetrics(
    linkRanks(
      trained.table,
      testSubset(values.on === 'valid' ? { ...data, test: data.valid } : data),
      knownAnswers([train, data.valid, data.test]),
    ),
  );
  const { epoch } = trained.state;
  const sha256 = createHash('sha256').update(trained.table.entities).digest('hex').slice(0, 16);
  const quality = { on: values.on, ...metrics, epochs: epoch, sha256 };
  const count = epoch * train.heads.length;
  emitRate({ ...about, task: 'transe-quality', settings: { ...named, ...others }, count, spent, quality });
} else {
  const state = createTransE({ numEntities, numRelations, settings, seed });
  const work = createWork({ settings, seed, state, train }, threads);
  orderEpoch(work);
  const turn = threads === 1 ? stretches(work) : epochs(work);
  const { count, spent } = await repeatFor(turn.run, Number(values.seconds), 1);
  await turn.close?.();
  emitRate({ ...about, task: 'transe-train', settings: { ...named, batch: settings.batchSize }, count, spent });
}

/** One thread trains on and on, a stretch of an epoch at a time. */
function stretches(work: TransEWork): Turn {
  const share = openShare(work);
  const counts = (function* () {
    for (;;) {
      let before = 0;
      for (const done of share.train({ thread: 0, threads: 1 }, 0, settings.learningRate)) {
        if (done - before < stretch) continue;
        yield done - before;
        before = done;
      }
    }
  })();
  return { run: () => counts.next().value };
}

/** Several threads train whole epochs. */
function epochs(work: TransEWork): Turn {
  const crew = openCrew(work, threads);
  return {
    run: () => crew.train(0, settings.learningRate, () => {}).then(() => train.heads.length),
    close: () => crew.close(),
  };
}
