import { runsAsWritten } from './page-run.js';

// By itself: a plugin of another page that is loaded in this process would be an input of the plan, which workers lack.
runsAsWritten('docs/how-to/sweeps.md', {
  saves: { 'Driven by Optuna': ['study.py'], Containers: ['array.sh', 'job.yaml'] },
});
