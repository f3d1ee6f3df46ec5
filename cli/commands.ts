/** Every command, in help order. */
import type { Command } from 'commander';
import { register as ask } from './ask.js';
import { register as cache } from './cache.js';
import { register as checkpoint } from './checkpoint.js';
import { register as compare } from './compare.js';
import { register as completion } from './completion.js';
import { register as config } from './config.js';
import { register as datasets } from './datasets.js';
import { register as doctor } from './doctor.js';
import { register as embeddings } from './embeddings.js';
import { register as encode } from './encode.js';
import { register as evaluate } from './evaluate.js';
import { register as models } from './models.js';
import { register as native } from './native.js';
import { refuseEmptyWords } from './options.js';
import { register as plan } from './plan.js';
import { register as plugins } from './plugins.js';
import { register as pretrain } from './pretrain.js';
import { register as progress } from './progress.js';
import { register as quickstart } from './quickstart.js';
import { register as replay } from './replay.js';
import { register as report } from './report.js';
import { register as runs } from './runs.js';
import { register as serve } from './serve.js';
import { register as sweep } from './sweep.js';
import { register as train } from './train.js';
import { register as work } from './work.js';

/** Each adds itself to a program and loads its heavy parts only when it runs. */
export const commands: readonly ((program: Command) => void)[] = [
  plugins,
  progress,
  refuseEmptyWords,
  quickstart,
  datasets,
  models,
  pretrain,
  embeddings,
  encode,
  train,
  sweep,
  evaluate,
  work,
  plan,
  ask,
  compare,
  replay,
  report,
  serve,
  runs,
  checkpoint,
  config,
  cache,
  doctor,
  native,
  completion,
];
