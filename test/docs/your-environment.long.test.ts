import { runsAsWritten } from './page-run.js';

runsAsWritten('docs/tutorials/your-environment.md', {
  saves: { 'From the command line': ['mine.mjs'] },
  prints: {
    'In three lines': /^\d+(\.\d+)? \[ ?\d/,
    'The environment': /^0\.90\n$/,
    Callbacks: /^true\n$/,
    'Stopped, continued, trained for longer': /^longer\n$/,
    'Custom networks': /^true\n$/,
  },
});
