/** What an agent did on one question, as lines for people. */
import type { QuestionAttempt } from '../../evaluation/questions/ask-questions.js';
import { eventText } from '../../evaluation/questions/event-text.js';
import type { Graph } from '../../src/kg/graph.js';
import { printable } from '../../src/run/printable.js';
import type { QuestionRow } from '../../src/run/question-records.js';
import { printLine, printTable } from '../output.js';

/** Prints the events, then each call with its tokens and how its reply was read, then the answer. */
export function printTrace(row: QuestionRow, { trace, calls }: QuestionAttempt, graph: Graph): void {
  printLine(printable(row.question));
  for (const event of trace) printLine(`  ${printable(eventText(event, graph))}`);
  if (calls.length > 0) {
    printLine();
    printTable(
      calls.map(({ phase, attempt, stage, promptTokens, cachedTokens, completionTokens }, i) => ({
        call: i + 1,
        phase,
        attempt,
        reply: stage,
        prompt: promptTokens,
        cached: cachedTokens,
        written: completionTokens,
      })),
    );
  }
  printLine();
  const said = row.truth !== undefined ? [String(row.truth)] : [...row.names, ...row.literals];
  printLine(`answer: ${said.map((name) => printable(name)).join('; ') || 'none'} (${row.stop})`);
}
