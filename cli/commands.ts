/** Every command, in help order. */
import type { Command } from 'commander';
import { register as ask } from './ask.js';
import { register as cache } from './cache.js';
import { register as checkpoint } from './checkpoint.js';
import { register as compare } from './compare.js';
import { register as completion } from './completion.js';
import { register as config } from './config.js';
import { register as datasets } from './datasets.js';
import { register as evaluate, registerReplay } from './evaluate.js';
import { register as exportPage } from './export.js';
import { refuseEmptyWords, registerPlugins, registerProgress, registerWide } from './global-options.js';
import { registerDoctor, registerNative } from './machine.js';
import { register as models } from './models.js';
import { register as oracle } from './oracle.js';
import { registerPlan, registerWork } from './plan.js';
import { register as predict, registerRules } from './predict.js';
import { register as questions } from './questions.js';
import { register as quickstart } from './quickstart.js';
import { register as report } from './report.js';
import { register as results } from './results.js';
import { register as runs } from './runs.js';
import { register as serve } from './serve.js';
import { register as sweep } from './sweep.js';
import { register as train } from './train.js';
import { registerEmbeddings, registerEncode, registerPretrain } from './vectors.js';

/** Each adds itself to a program and loads its heavy parts only when it runs. */
export const commands: readonly ((program: Command) => void)[] = [
  registerPlugins,
  registerProgress,
  registerWide,
  refuseEmptyWords,
  quickstart,
  datasets,
  models,
  questions,
  registerPretrain,
  registerEmbeddings,
  registerEncode,
  train,
  sweep,
  evaluate,
  registerWork,
  registerPlan,
  ask,
  predict,
  registerRules,
  compare,
  registerReplay,
  oracle,
  report,
  exportPage,
  serve,
  results,
  runs,
  checkpoint,
  config,
  cache,
  registerDoctor,
  registerNative,
  completion,
];
