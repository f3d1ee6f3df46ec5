/** Pace of requests to one server: fewer at once while it is busy, and no more a minute than it allows. */
import type { Delay, Pace } from '../run/requests.js';

export interface PaceLimits {
  /** Requests under way at once, at most. */
  concurrency: number;
  /** Requests, and tokens of prompts and replies, a minute. Default: no limit. */
  rpm?: number | undefined;
  tpm?: number | undefined;
}

const minute = 60_000;
/** Growth of the number at once by each answer, after it was halved. */
const recovery = 0.1;

/** @param now milliseconds of a monotonic clock */
export function serverPace(limits: PaceLimits, delay: Delay, now = () => performance.now()) {
  const { concurrency, rpm = Infinity, tpm = Infinity } = limits;
  const waiting: (() => void)[] = [];
  let places = concurrency;
  let [running, answers, next] = [0, 0, 0];
  const fill = () => {
    while (waiting.length > 0 && running < Math.floor(places)) {
      running++;
      waiting.shift()!();
    }
  };

  const pace: Pace = {
    async begin(signal) {
      const start = Math.max(now(), next);
      next = start + minute / rpm;
      const ms = start - now();
      if (ms > 0) await delay(ms, signal);
    },
    busy: () => (places = Math.max(1, places / 2)),
    get answers() {
      return answers;
    },
  };

  return {
    pace,
    /** Does work in turn, with a place until it ends. */
    async inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
      await new Promise<void>((begin) => {
        waiting.push(begin);
        fill();
      });
      try {
        return await work();
      } finally {
        running--;
        fill();
      }
    },
    answered(tokens: number): void {
      answers++;
      places = Math.min(concurrency, places + recovery);
      next = Math.max(now(), next) + (tokens * minute) / tpm;
    },
  };
}
