/**
 * LLM-ARK's two-step PPO as `kgwalk train llm-ark-2024` runs it, to a set number of updates: environment steps a second of walks and
 * updates together.
 *
 *     node dist/bench/rows/llm-ark.js [FOLDER] [--backend auto] [--updates 4] [--samples 256]
 *
 * FOLDER holds OpenDialKG's files; without it the dialogues are those of the invented world. Texts are encoded by hashing to 576
 * numbers, and vectors of entities and relations stay near their start: what a step costs does not depend on their values. The first
 * update is not counted.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { importDemo } from '../../datasets/demo/import.js';
import { importOpenDialKg } from '../../datasets/opendialkg/import.js';
import { loadPreset } from '../../presets/index.js';
import { train } from '../../tasks/train.js';
import { emitRate, startClock } from '../measure.js';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    backend: { type: 'string', default: 'auto' },
    updates: { type: 'string', default: '4' },
    samples: { type: 'string', default: '256' },
  },
});
const [from] = positionals;
const home = mkdtempSync(join(tmpdir(), 'kgwalk-llm-ark-'));
process.env.KGWALK_HOME = home;
try {
  await (from === undefined ? importDemo({ home }) : importOpenDialKg({ from, home }));
  const dataset = from === undefined ? 'demo' : 'opendialkg';
  const settings = loadPreset('llm-ark-2024', [
    ...[`data.dataset=${dataset}`, 'encoder.model=hashed:576', 'transe.epochs=1', `backend=${values.backend}`],
    ...[`ppo.samplesPerUpdate=${values.samples}`, `ppo.updates=${Number(values.updates) + 1}`, 'ppo.evalEvery=1000'],
  ]);
  let variant = values.backend;
  let clock = startClock();
  let [count, reward] = [0, 0];
  await train({
    settings,
    folder: join(home, 'run'),
    onBackend: (name) => void (variant = name),
    onUpdate: ({ update, steps, metrics }) => {
      if (update === 1) clock = startClock();
      else count += steps;
      reward = metrics['rollout/reward']!;
      if (update <= Number(values.updates)) return;
      const { samplesPerUpdate, explorations, updateEpochs } = settings.ppo;
      emitRate({
        variant,
        task: 'llm-ark',
        settings: {
          data: dataset,
          samples: samplesPerUpdate,
          explorations,
          epochs: updateEpochs,
          state: 576,
          hidden: 576,
        },
        count,
        unit: 'env steps/s',
        spent: { wall: clock.wall(), cpu: clock.cpu() },
        quality: { updates: update - 1, reward },
      });
    },
  });
} finally {
  rmSync(home, { recursive: true });
}
