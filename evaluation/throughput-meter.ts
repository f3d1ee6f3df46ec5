/** Speed of an evaluation by wall clock: the only difference between equal evaluations. */
import type { CallTiming } from '../src/llm/client/ask-model.js';
import { usedCpu } from '../src/run/metric-log.js';

/** Work of one session; tokens of stored replies are not counted. */
export interface EvaluationSpeed {
  seconds: number;
  /** Time before the first question, such as encoding all texts. */
  prepareSeconds: number;
  /** Milliseconds of wall time a question, those of preparing included. */
  msPerQuestion: number;
  /** Calls that the model answered, and those that were remembered. */
  asked: number;
  remembered: number;
  /** Calls that the model answered. */
  promptTokens: number;
  cachedTokens: number;
  completionTokens: number;
  tokensPerSecond: number;
  /** Seconds of processor time of this process, all its threads together; a server's are not known. */
  cpuSeconds: number;
}

/** Measures the throughput of calls and questions. */
export interface ThroughputMeter {
  called(call: CallTiming): void;
  prepared(): void;
  answered(): void;
  speed(): EvaluationSpeed;
  /** Events since its last call, for a line of `timing.jsonl`. */
  lap(): Record<string, number>;
}

/** @param now milliseconds of a monotonic clock @param cpu milliseconds of processor time until now */
export function throughputMeter(now = () => performance.now(), cpu = usedCpu): ThroughputMeter {
  const started = now();
  const cpuStarted = cpu();
  let preparedAt = started;
  const tokens = { promptTokens: 0, cachedTokens: 0, completionTokens: 0 };
  const total = { questions: 0, asked: 0, remembered: 0, ...tokens, ms: 0, cpu: 0 };
  let before = { ...total };
  return {
    called({ ms, cacheHit, completion }) {
      if (cacheHit) {
        total.remembered++;
        return;
      }
      total.asked++;
      total.ms += ms;
      total.promptTokens += completion.promptTokens;
      total.cachedTokens += completion.cachedTokens;
      total.completionTokens += completion.completionTokens;
    },
    prepared() {
      preparedAt = now();
    },
    answered() {
      total.questions++;
    },
    speed() {
      const seconds = Math.max(1e-6, (now() - started) / 1000);
      const { questions, ms: _, cpu: _cpu, ...counts } = total;
      const evaluated = total.promptTokens - total.cachedTokens + total.completionTokens;
      return {
        seconds,
        prepareSeconds: (preparedAt - started) / 1000,
        msPerQuestion: (seconds * 1000) / Math.max(1, questions),
        ...counts,
        tokensPerSecond: evaluated / seconds,
        cpuSeconds: (cpu() - cpuStarted) / 1000,
      };
    },
    lap() {
      total.cpu = cpu() - cpuStarted;
      const since = Object.entries(total).map(([key, value]): [string, number] => [
        `time/${key === 'ms' ? 'call_ms' : key === 'cpu' ? 'cpu_ms' : key}`,
        Math.round(value - before[key as keyof typeof total]),
      ]);
      before = { ...total };
      return Object.fromEntries(since);
    },
  };
}
