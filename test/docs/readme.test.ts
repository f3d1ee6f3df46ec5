import { runsAsWritten } from './page-run.js';

runsAsWritten('README.md', { prints: { 'As a library': /^\[\["\w+","[^"]+"\]/ } });
