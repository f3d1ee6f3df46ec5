import { runsAsWritten } from './page-run.js';

// By itself: a plugin of another page that is loaded in this process would be an input of the plan, which workers lack.
runsAsWritten('docs/scale-out.md', { saves: { Containers: ['array.sh', 'job.yaml'] } });
