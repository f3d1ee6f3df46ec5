import { runsAsWritten } from './page-run.js';

const dialogues = 'kgwalk datasets import opendialkg --from DIR';
const questions = 'kgwalk datasets import metaqa --from DIR';

runsAsWritten('docs/methods/dialogue-walker.md', { before: [dialogues] });
runsAsWritten('docs/methods/embeddings.md', { prints: { Run: /^Ivy Stone citizen_of Northland 0\.\d{3}\n$/ } });
runsAsWritten('docs/methods/exact-walkers.md', {
  prints: {
    Rules: /^(best|.*noisy-or.*) (none|head|answers) born_in \[.+\] 0\.\d+\n$/,
    'In a program': /^0\.\d{3} .+ /m,
  },
});
runsAsWritten('docs/methods/llm-ark.md');
runsAsWritten('docs/methods/llm-policy.md');
runsAsWritten('docs/methods/path-walker.md', {
  prints: { 'The environment': /^(Ivy Stone -\[\w+\]-> [\w ]+ -\[lies_in\]-> Northland\n){2}these are all\n$/ },
});
runsAsWritten('docs/methods/policies.md');
runsAsWritten('docs/methods/prompted-agents.md', { before: [dialogues, questions] });
runsAsWritten('docs/methods/readers.md');
runsAsWritten('docs/methods/relation-walker.md', { prints: { 'The environment': /f1|\d/ } });
