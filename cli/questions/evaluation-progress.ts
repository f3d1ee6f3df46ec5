/** The progress line of an evaluation of questions: rate, time to go, calls, tokens and the score so far. */
import type { CallTiming } from '../../src/llm/client/ask-model.js';
import type { ProgressReporter } from '../../src/run/progress.js';
import type { QuestionRow } from '../../src/run/question-records.js';

/** Told of every call and every question that ended. */
export interface EvaluationProgress {
  answered(row: QuestionRow): void;
  called(call: CallTiming): void;
  finish(): void;
}

/** Opens a progress line for `total` questions. */
export function evaluationProgress(name: string, total: number, progress: ProgressReporter): EvaluationProgress {
  const line = progress(name, total, 'questions');
  const started = performance.now();
  let done = 0;
  let right = 0;
  let calls = 0;
  let remembered = 0;
  let tokens = 0;
  const show = () => {
    const seconds = (performance.now() - started) / 1000;
    const asked = [
      `${calls} calls`,
      ...(remembered > 0 ? [`${remembered} remembered`] : []),
      `${(tokens / Math.max(seconds, 1e-9)).toFixed(0)} tokens/s`,
    ];
    const score = done === 0 ? [] : [`hit@1 ${((100 * right) / done).toFixed(1)} %`];
    line.update(done, [...score, ...(calls > 0 ? asked : [])].join(' · '));
  };
  return {
    answered({ metrics }) {
      done++;
      right += metrics['hit@1'] ?? metrics.accuracy ?? 0;
      show();
    },
    called({ cacheHit, completion: { promptTokens, cachedTokens, completionTokens } }) {
      calls++;
      if (cacheHit) remembered++;
      else tokens += promptTokens - cachedTokens + completionTokens;
      show();
    },
    finish: () => line.finish(),
  };
}
