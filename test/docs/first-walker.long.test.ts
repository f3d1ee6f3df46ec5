import { runsAsWritten } from './page-run.js';

runsAsWritten('docs/tutorials/first-walker.md', {
  prints: {
    Data: /^\d+ entities, \d+ edges, \d+ samples to train on\n.+\n.+ → .+ → .+\n$/,
    'A walk': /→|-\[/,
    'An answer': /^.+ → .+\n$/,
    'A custom world': /^0\.[78]\d true\n$/,
  },
});

runsAsWritten('docs/tutorials/train-a-language-model.md');
