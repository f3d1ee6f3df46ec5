import { runsAsWritten } from './page-run.js';

const links = ['fb15k-237', 'umls', 'kinship', 'wn18rr'].map(
  (name) => `kgwalk datasets import triples --name ${name} --from DIR`,
);
const others = ['opendialkg', 'metaqa'].map((name) => `kgwalk datasets import ${name} --from DIR`);

runsAsWritten('docs/results.md', { before: ['kgwalk datasets demo', ...others, ...links] });
