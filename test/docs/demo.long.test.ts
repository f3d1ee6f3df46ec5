import { runsAsWritten } from './page-run.js';

runsAsWritten('docs/demo.md');
