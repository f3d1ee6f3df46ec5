import { runsAsWritten } from './page-run.js';
import { quickstartLeft } from './stand-ins.js';

runsAsWritten('README.md', { before: quickstartLeft, prints: { 'As a library': /^.+ → .+ \(\d+\.\d ms\)$/m } });
