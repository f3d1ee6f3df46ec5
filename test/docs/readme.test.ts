import { runsAsWritten } from './page-run.js';
import { quickstartLeft } from './stand-ins.js';

runsAsWritten('README.md', {
  before: [...quickstartLeft, 'kgwalk datasets import opendialkg --from DIR'],
  prints: { 'As a library': /^.+ → .+ \(\d+\.\d ms\)$/m },
});
