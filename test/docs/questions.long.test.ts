import { runsAsWritten } from './page-run.js';

runsAsWritten('docs/questions.md', {
  prints: { 'The walk': /f1|\d/, 'A custom agent': /^$/ },
  saves: { 'Your own graph and questions': ['questions.jsonl'] },
});
