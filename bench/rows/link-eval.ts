/**
 * Filtered ranking among all entities, both sides of test triples.
 *
 *     node dist/bench/rows/link-eval.js FOLDER [--norm 1|2] [--dim 100] [--threads 1] [--seconds 5] [--epochs 0]
 *
 * Random tables, as on the peers' side, where no entity is far from any other; `--epochs` trains one before, with 25
 * negatives a triple. Each turn ranks the whole of test; `index_seconds` is what the index of all known answers takes once.
 */
import { parseArgs } from 'node:util';
import { knownAnswers } from '../../src/embedding/known-answers.js';
import { linkMetrics } from '../../src/embedding/rank-links.js';
import { loadConfig } from '../../src/run/config.js';
import { Rng } from '../../src/run/seeds.js';
import { openCrew, trainTransE } from '../../agents/embeddings/transe/train-transe.js';
import { transeSettings } from '../../agents/embeddings/transe/settings.js';
import { createTransE, createWork } from '../../agents/embeddings/transe/work.js';
import { readLinkData } from '../link-data.js';
import { emitRate, repeatFor, startClock } from '../measure.js';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    norm: { type: 'string', default: '1' },
    dim: { type: 'string', default: '100' },
    threads: { type: 'string', default: '1' },
    seconds: { type: 'string', default: '5' },
    epochs: { type: 'string', default: '0' },
  },
});
if (positionals[0] === undefined) throw new Error('expected the folder of train.txt, valid.txt and test.txt');
const data = await readLinkData(positionals[0]);
const [dim, threads, epochs] = [Number(values.dim), Number(values.threads), Number(values.epochs)];
const overrides = [`norm=${values.norm}`, `dim=${dim}`, `epochs=${Math.max(1, epochs)}`, 'negatives=25'];
const settings = loadConfig(transeSettings, { overrides, source: 'the arguments' });

const { train, numEntities, numRelations } = data;
let state = createTransE({ ...data, settings, seed: 0 });
if (epochs > 0) ({ state } = await trainTransE({ train, numEntities, numRelations, settings, seed: 0, threads }));
else drawTable(state.table);

const clock = startClock();
knownAnswers([data.train, data.valid, data.test]);
const indexSeconds = Number(clock.cpu().toFixed(3));

// As validation while training ranks, all of test.
const work = createWork({ ...data, settings, seed: 0, state, valid: data.test, known: [data.valid] }, threads);
const crew = openCrew(work, threads);
const rank = () => crew.rank().then(() => work.valid!.ranks.length);
const { count, spent } = await repeatFor(rank, Number(values.seconds), 1);
await crew.close();
const { mrr } = linkMetrics(work.valid!.ranks);
emitRate({
  task: 'link-eval',
  settings: { data: data.name, dim, norm: settings.norm, epochs, index_seconds: indexSeconds },
  count,
  unit: 'queries/s',
  spent,
  threads,
  quality: { mrr: Number(mrr.toFixed(4)), queries: work.valid!.ranks.length },
});

/** Standard normal values. */
function drawTable({ entities, relations }: { entities: Float32Array; relations: Float32Array }): void {
  const rng = Rng.named(0, 'bench/table');
  for (const rows of [entities, relations]) for (let i = 0; i < rows.length; i++) rows[i] = rng.normal();
}
