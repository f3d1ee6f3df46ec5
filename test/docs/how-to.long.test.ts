import { runsAsWritten } from './page-run.js';

runsAsWritten('docs/how-to/compare-agents.md');
runsAsWritten('docs/how-to/your-agent.md', { prints: { 'Your own question agent': /^$/ } });
runsAsWritten('docs/how-to/your-questions.md', { saves: { 'The files': ['questions.jsonl'] } });
runsAsWritten('docs/how-to/your-triples.md', {
  prints: { 'In a program': /^Ivy Stone citizen_of \["Northland"\]\n$/ },
});
