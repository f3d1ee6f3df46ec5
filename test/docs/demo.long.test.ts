import { runsAsWritten } from './page-run.js';

runsAsWritten('docs/reference/demo-world.md');
