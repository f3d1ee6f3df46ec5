import { runsAsWritten } from './page-run.js';
import { quickstartLeft } from './stand-ins.js';

runsAsWritten('docs/reference/library.md', {
  before: quickstartLeft,
  saves: { Plugins: ['longer.mjs', 'mine.yaml'] },
  prints: {
    Answering: /^[01]\.\d{3} .+ → /m,
    Walking: /\d/,
    'Walking many link queries at once': /^(\d+ ){8}\| 0 /m,
    Training: /^$/,
    'A custom environment': /^$/,
    Plugins: /^$/,
    // A random policy lasts some 22 steps.
    'A custom policy': /^[1-5]\d\d(\.\d+)?$/m,
  },
});
