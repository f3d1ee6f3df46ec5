import { expect, test } from '@jest/globals';
import { documentationPages, examplesOf } from './examples.js';
import { runsAsWritten } from './page-run.js';
import { quickstartLeft } from './stand-ins.js';
import { typeErrors } from './typescript-examples.js';

const mainJob = [
  'kgwalk datasets import opendialkg --from DIR',
  'kgwalk train opendialkg --model MODEL.gguf --run-dir runs/first',
];

test('every example in TypeScript fits the library', () => {
  const examples = documentationPages().flatMap(examplesOf);
  const text = "import { loadWalkerRun } from 'kgwalk/agents';\nawait loadWalkerRun(1);\n";
  const wrong = { page: 'wrong.md', line: 5, language: 'ts', heading: '', text };
  const written = [...examples, wrong].filter(({ language }) => language === 'ts');
  expect(typeErrors(written)).toEqual(['wrong.md:6: Expected 2 arguments, but got 1.']);
});

runsAsWritten('README.md', {
  before: [
    ...quickstartLeft,
    'kgwalk train demo-questions --model MODEL.gguf --run-dir runs/quickstart/questions',
    'kgwalk datasets import opendialkg --from DIR',
  ],
  prints: { 'Your environment': /^[01]$/m },
});
runsAsWritten('CONTRIBUTING.md', {
  before: quickstartLeft,
  saves: {
    'A trained agent': ['words.mjs'],
    'A trained method': ['by-word.mjs', 'by-word.yaml'],
    'A prompted agent': ['step.mjs'],
    'A data set': ['capitals.mjs', 'capitals.tsv'],
    'A figure': ['near.mjs'],
  },
  prints: { 'A task': /^five 0\.5 true\ncounting 1 true\n$/ },
});
runsAsWritten('docs/README.md');
runsAsWritten('docs/how-to/import-data.md', { before: mainJob, saves: { Dialogues: ['said.json'] } });
runsAsWritten('docs/reference/dependencies.md');
runsAsWritten('docs/how-to/gpu.md');
runsAsWritten('docs/reference/guarantees.md');
runsAsWritten('docs/how-to/reports.md', { before: quickstartLeft });
runsAsWritten('docs/how-to/models.md', {
  before: ['kgwalk datasets import opendialkg --from DIR', 'kgwalk datasets demo'],
});
runsAsWritten('docs/explanation/performance.md');
// Its programs are run by test/clients/python.long.test.ts.
runsAsWritten('docs/how-to/python.md', {
  saves: {
    'One environment': ['one.py'],
    'Metrics in pandas': ['metrics.py'],
    'Many at once': ['many.py'],
    'Link queries': ['links.py'],
    'Stable-Baselines3': ['learn.py'],
    'Policies back': ['back.py'],
    'A custom environment': ['own.py'],
    'A trained policy': ['act.py'],
  },
});
runsAsWritten('docs/how-to/sparql.md');
runsAsWritten('docs/what-the-labels-allow.md', {
  before: [mainJob[0]!, 'kgwalk train opendialkg --model MODEL.gguf --run-dir runs/clone'],
});
runsAsWritten('clients/python/README.md', { saves: { kgwalk_gym: ['first.py'] } });
runsAsWritten('models/demo/README.md');
