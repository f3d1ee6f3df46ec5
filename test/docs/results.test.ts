import { runsAsWritten } from './page-run.js';

runsAsWritten('docs/results.md', { before: ['kgwalk datasets import opendialkg --from DIR'] });
