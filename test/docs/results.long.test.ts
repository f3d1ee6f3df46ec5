import { runsAsWritten } from './page-run.js';

const links = ['fb15k-237', 'umls', 'kinship'].map(
  (name) => `kgwalk datasets import triples --name ${name} --from DIR`,
);

runsAsWritten('docs/results.md', { before: ['kgwalk datasets import opendialkg --from DIR', ...links] });
